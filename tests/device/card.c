/*
 * A card that Comedi drives, from a shell, in volts of the first range. It is /dev/comedi0, or what
 * CARD says:
 *
 *      card read SUBDEVICE CHANNEL
 *      card write SUBDEVICE CHANNEL VOLTS
 *      card hold SUBDEVICE         reserves it, says "held", and waits to be ended
 *      card bit SUBDEVICE CHANNEL  of a digital channel
 *      card attach DRIVER BASE     makes it one of this driver, at this port
 *      card port BASE SECONDS      what the port's register has in that time, past Comedi: "0 1"
 */
#include <comedi.h>
#include <comedilib.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *what)
{
    comedi_perror(what);
    return 1;
}

static int read_channel(comedi_t *card, unsigned subdevice, unsigned channel)
{
    comedi_range *range = comedi_get_range(card, subdevice, channel, 0);
    const lsampl_t greatest = comedi_get_maxdata(card, subdevice, channel);
    lsampl_t sample;

    if (comedi_data_read(card, subdevice, channel, 0, AREF_GROUND, &sample) < 0)
        return fail("read");
    printf("%.3f\n", range->min + (range->max - range->min) * (double)sample / (double)greatest);
    return 0;
}

static int write_channel(comedi_t *card, unsigned subdevice, unsigned channel, double volts)
{
    comedi_range *range = comedi_get_range(card, subdevice, channel, 0);
    const lsampl_t greatest = comedi_get_maxdata(card, subdevice, channel);

    return comedi_data_write(card, subdevice, channel, 0, AREF_GROUND,
                             comedi_from_phys(volts, range, greatest)) < 0
               ? fail("write")
               : 0;
}

static int hold(comedi_t *card, unsigned subdevice)
{
    if (comedi_lock(card, subdevice) < 0)
        return fail("hold");
    puts("held");
    fflush(stdout);
    for (;;)
        pause();
}

static int read_bit(comedi_t *card, unsigned subdevice, unsigned channel)
{
    unsigned bit;

    if (comedi_dio_read(card, subdevice, channel, &bit) < 0)
        return fail("bit");
    printf("%u\n", bit);
    return 0;
}

static int attach(const char *path, const char *driver, const char *base)
{
    comedi_devconfig config = {.options = {(int)strtol(base, NULL, 0)}};
    const int file = open(path, O_RDWR);

    snprintf(config.board_name, sizeof config.board_name, "%s", driver);
    if (file >= 0 && ioctl(file, COMEDI_DEVCONFIG, &config) == 0)
        return 0;
    perror(path);
    return 1;
}

static int watch_port(long base, long seconds)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    const int file = open("/dev/port", O_RDONLY);
    const time_t end = time(NULL) + seconds;
    bool seen[256] = {false};
    uint8_t byte;

    while (file >= 0 && pread(file, &byte, 1, base) == 1 && time(NULL) <= end) {
        seen[byte] = true;
        nanosleep(&moment, NULL);
    }
    for (unsigned i = 0, count = 0; i < 256; i++)
        if (seen[i])
            printf("%s%u", count++ ? " " : "", i);
    putchar('\n');
    return file < 0;
}

int main(int argc, char **argv)
{
    const char *path = getenv("CARD") ? getenv("CARD") : "/dev/comedi0";
    if (argc == 4 && strcmp(argv[1], "attach") == 0)
        return attach(path, argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "port") == 0)
        return watch_port(strtol(argv[2], NULL, 0), atol(argv[3]));
    comedi_t *card = comedi_open(path);
    const unsigned subdevice = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const unsigned channel = argc > 3 ? (unsigned)atoi(argv[3]) : 0;

    if (!card)
        return fail(path);
    if (argc == 4 && strcmp(argv[1], "read") == 0)
        return read_channel(card, subdevice, channel);
    if (argc == 5 && strcmp(argv[1], "write") == 0)
        return write_channel(card, subdevice, channel, atof(argv[4]));
    if (argc == 4 && strcmp(argv[1], "bit") == 0)
        return read_bit(card, subdevice, channel);
    if (argc == 3 && strcmp(argv[1], "hold") == 0)
        return hold(card, subdevice);
    fprintf(stderr,
            "card: read SUBDEVICE CHANNEL, write SUBDEVICE CHANNEL VOLTS, hold SUBDEVICE, bit "
            "SUBDEVICE CHANNEL, attach DRIVER BASE, port BASE SECONDS\n");
    return 2;
}
