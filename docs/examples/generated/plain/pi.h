/* A PI law in plain C, as many have it. */
struct pi {
    float kp, ki; /* 1/V, and times the period */
    float integral;
};

float pi_update(struct pi *pi, float reference, float voltage);
