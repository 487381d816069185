# Works with threads, a child and a file, for SITUATION_SECONDS and once at least.
require 'json'
start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
seconds = ENV.fetch('SITUATION_SECONDS', '0').to_f
loop do
  $results = Array.new(4) { Thread.new { (0...2000).to_h { |i| [i.to_s, [i] * 10] }.to_json.size } }.map(&:value)
  $said = IO.popen(['sh', '-c', 'echo from a child'], &:read)
  break if Process.clock_gettime(Process::CLOCK_MONOTONIC) - start >= seconds
end
File.write('written', "written\n")
puts "#{$results} #{$said.strip}"
exit 7
