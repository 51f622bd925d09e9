output "client" {
  description = "The address for SSH to the machine that generates the load."
  value       = aws_instance.pair["client"].public_ip
}

output "server" {
  description = "The address at which the client reaches the machine with the servers."
  value       = aws_instance.pair["server"].private_ip
}
