"""Language servers on the page of servers: how they stand, switching them on, installing them."""
