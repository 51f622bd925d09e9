# Serve the dialect "action-cable" of docs/websockets.rst with Action Cable, without the rest of Rails.
require "logger"
require "rails"
require "action_cable/engine"

redis = ENV["REDIS_URL"].to_s.empty? ? "unix://#{ENV["RUN_DIR"]}/redis.sock" : ENV["REDIS_URL"]

class Peer < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false # there is no application code to load
  config.secret_key_base = "only-for-benchmarks-it-guards-nothing"
  config.logger = Logger.new($stderr, level: Logger::ERROR)
  config.hosts.clear
  config.action_cable.mount_path = "/cable"
  # A client without an Origin header isn't a browser, so there is nothing to protect.
  hosts = ["localhost", "127.0.0.1", "[::1]", ENV["BENCH_BIND"]].compact.map { |host| Regexp.escape(host) }
  config.action_cable.allowed_request_origins = [nil, %r{\Ahttps?://(#{hosts.join("|")})(:\d+)?\z}]
end

Peer.config.action_cable.cable = {
  "adapter" => ENV.fetch("CABLE_ADAPTER", "async"),
  "url" => redis,
  "channel_prefix" => "cable:#{ENV["BENCH_PORT"]}" # simultaneous setups may share a Redis server, but not a room
}

module ApplicationCable
  class Connection < ActionCable::Connection::Base
  end
end

class EchoChannel < ActionCable::Channel::Base
  def echo(data)
    transmit({ echo: data["payload"] })
  end
end

class RoomChannel < ActionCable::Channel::Base
  def subscribed
    stream_from "room:#{params[:room]}"
  end
end

class PublishChannel < ActionCable::Channel::Base
  def publish(data)
    ActionCable.server.broadcast("room:#{params[:room]}", { message: data["payload"] })
    transmit({ ok: true })
  end
end

Peer.initialize!

# map also matches paths below its path, which don't exist.
well = lambda do |env|
  found = ["", "/"].include?(env["PATH_INFO"])
  [found ? 200 : 404, { "Content-Type" => "text/plain" }, [found ? "OK" : "Not found"]]
end
map("/healthz") { run well }
map("/cable") { run ActionCable.server }
map("/") { run well }
