variable "region" {
  description = "The AWS region of the pair."
  type        = string
  default     = "eu-central-1"
}

variable "instance_type" {
  description = "The type of both instances. It needs unshared cores (no t-types), and as many as the servers will use."
  type        = string
  default     = "c7i.xlarge"
}

variable "architecture" {
  description = "The architecture of the instance type: amd64 or arm64."
  type        = string
  default     = "amd64"
}

variable "hours" {
  description = "The hours after which the instances shut down."
  type        = number
  default     = 3
  validation {
    condition     = var.hours >= 1 && var.hours <= 24
    error_message = "The hours must be from 1 to 24."
  }
}

variable "name" {
  description = "The name of all resources, by which you can find them."
  type        = string
}

variable "created" {
  description = "The time at which the pair was created, for the tag Expires."
  type        = string
}

variable "caller" {
  description = "The IPv4 address from which SSH is allowed."
  type        = string
  validation {
    condition     = can(cidrnetmask("${var.caller}/32"))
    error_message = "The caller must be an IPv4 address."
  }
}

variable "public_key" {
  description = "The authorized SSH key, in the format of a .pub file."
  type        = string
}
