/*
 * A card that Comedi drives, from a shell, in volts of the first range:
 *
 *      card read SUBDEVICE CHANNEL
 *      card write SUBDEVICE CHANNEL VOLTS
 *      card hold SUBDEVICE         reserves it, says "held", and waits to be ended
 */
#include <comedilib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "/dev/comedi0";

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

int main(int argc, char **argv)
{
    comedi_t *card = comedi_open(path);
    const unsigned subdevice = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const unsigned channel = argc > 3 ? (unsigned)atoi(argv[3]) : 0;

    if (!card)
        return fail(path);
    if (argc == 4 && strcmp(argv[1], "read") == 0)
        return read_channel(card, subdevice, channel);
    if (argc == 5 && strcmp(argv[1], "write") == 0)
        return write_channel(card, subdevice, channel, atof(argv[4]));
    if (argc == 3 && strcmp(argv[1], "hold") == 0)
        return hold(card, subdevice);
    fprintf(stderr,
            "card: read SUBDEVICE CHANNEL, write SUBDEVICE CHANNEL VOLTS, hold SUBDEVICE\n");
    return 2;
}
