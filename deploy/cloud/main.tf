# Two instances in one placement group of AWS, for servers and load: `make cloud-up`, `make cloud-bench`, `make cloud-down`.
# docs/two-machines.rst describes the options, and how to check that all resources are deleted.

terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.80"
    }
  }
}

provider "aws" {
  region = var.region
  default_tags {
    tags = {
      Name    = var.name
      Purpose = "django-serving-benchmark"
      Expires = "${var.hours} h after ${var.created}"
    }
  }
}

data "aws_ssm_parameter" "image" {
  name = "/aws/service/canonical/ubuntu/server/24.04/stable/current/${var.architecture}/hvm/ebs-gp3/ami-id"
}

resource "aws_vpc" "pair" {
  cidr_block           = "10.99.0.0/24"
  enable_dns_hostnames = true
}

resource "aws_subnet" "pair" {
  vpc_id                  = aws_vpc.pair.id
  cidr_block              = "10.99.0.0/24"
  map_public_ip_on_launch = true
}

resource "aws_internet_gateway" "pair" {
  vpc_id = aws_vpc.pair.id
}

resource "aws_route_table" "pair" {
  vpc_id = aws_vpc.pair.id
  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.pair.id
  }
}

resource "aws_route_table_association" "pair" {
  subnet_id      = aws_subnet.pair.id
  route_table_id = aws_route_table.pair.id
}

# Allow SSH only from the caller's address, and all traffic between the two instances.
resource "aws_security_group" "pair" {
  name_prefix = var.name
  vpc_id      = aws_vpc.pair.id

  ingress {
    description = "SSH from the creator of the pair"
    protocol    = "tcp"
    from_port   = 22
    to_port     = 22
    cidr_blocks = ["${var.caller}/32"]
  }
  ingress {
    description = "between the instances"
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    self        = true
  }
  egress {
    description = "packages"
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_key_pair" "pair" {
  key_name_prefix = var.name
  public_key      = var.public_key
}

resource "aws_placement_group" "pair" {
  name     = var.name
  strategy = "cluster"
}

resource "aws_instance" "pair" {
  for_each = toset(["client", "server"])

  ami                    = data.aws_ssm_parameter.image.value
  instance_type          = var.instance_type
  subnet_id              = aws_subnet.pair.id
  vpc_security_group_ids = [aws_security_group.pair.id]
  placement_group        = aws_placement_group.pair.name
  key_name               = aws_key_pair.pair.key_name

  # Forgotten instances shut down after some hours, and an instance that shuts down is terminated.
  instance_initiated_shutdown_behavior = "terminate"
  user_data                            = "#!/bin/sh\nshutdown -h +${var.hours * 60}\n"

  metadata_options {
    http_tokens = "required"
  }
  root_block_device {
    volume_size           = 20
    delete_on_termination = true
    encrypted             = true
  }
  tags = {
    Name = "${var.name}-${each.key}"
  }
}
