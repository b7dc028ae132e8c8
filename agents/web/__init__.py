"""What the pages have of agents: pickers, accounts, servers, rules, trust."""
