# Works with a child and a file, for SITUATION_SECONDS and once at least.
use strict;
use warnings;
use Time::HiRes qw(time);
my ($begin, $seconds) = (time, $ENV{SITUATION_SECONDS} // 0);
my ($size, $said);
do {
    my %words = map { $_ => [($_) x 10] } 0 .. 2000;
    $size = 0;
    $size += length(join ',', @{$words{$_}}) for keys %words;
    $said = `sh -c 'echo from a child'`;
} while time - $begin < $seconds;
open my $file, '>', 'written' or die;
print $file "written\n";
close $file;
print "$size $said";
exit 7;
