"""What is made from the service's catalogue."""
