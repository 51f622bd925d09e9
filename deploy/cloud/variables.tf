variable "region" {
  description = "Where the pair is."
  type        = string
  default     = "eu-central-1"
}

variable "instance_type" {
  description = "Of both. Cores that are not shared (no t-types), and as many for the servers as are to be measured."
  type        = string
  default     = "c7i.xlarge"
}

variable "architecture" {
  description = "What the instance type is: amd64 or arm64."
  type        = string
  default     = "amd64"
}

variable "hours" {
  description = "Hours after which the instances end themselves."
  type        = number
  default     = 3
  validation {
    condition     = var.hours >= 1 && var.hours <= 24
    error_message = "From 1 to 24 hours are allowed."
  }
}

variable "name" {
  description = "What all of it is called, so that it can be found."
  type        = string
}

variable "created" {
  description = "When it was made, for the tag that says when it expires."
  type        = string
}

variable "caller" {
  description = "The IPv4 address from which SSH is let through."
  type        = string
  validation {
    condition     = can(cidrnetmask("${var.caller}/32"))
    error_message = "An IPv4 address is needed."
  }
}

variable "public_key" {
  description = "The SSH key that is let in, as a .pub file has it."
  type        = string
}
