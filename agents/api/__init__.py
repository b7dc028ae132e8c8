"""Operations of OpenCode's API about configuration, models, agents and what is connected."""
