output "client" {
  description = "Where SSH leads to the machine that makes the load."
  value       = aws_instance.pair["client"].public_ip
}

output "server" {
  description = "Where the client reaches the machine of the servers."
  value       = aws_instance.pair["server"].private_ip
}
