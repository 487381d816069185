// Starts the loopback device of the machine that it runs on. Foundation waits for the ends of processes through this
// device.

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int main(void) {
  struct ifreq request;
  memset(&request, 0, sizeof request);
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  if (descriptor >= 0 && ioctl(descriptor, SIOCSIFFLAGS, &request) == 0) return 0;
  perror("loopback");
  return 1;
}
