# Makes a listening unix socket at the given path, and becomes the given command with it as descriptor 3.
use strict;
use warnings;
use POSIX ();
use Socket;

my ($path, @command) = @ARGV;
$^F = 255;
socket(my $listener, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
bind($listener, sockaddr_un($path)) or die "bind: $!";
listen($listener, 256) or die "listen: $!";
POSIX::dup2(fileno($listener), 3) if fileno($listener) != 3;
exec(@command) or die "exec: $!";
