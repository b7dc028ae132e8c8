"""What a prompt has attached by an address: read when the prompt is promoted."""
