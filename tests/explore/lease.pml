/* The lease protocol of calibration_model.hpp for SPIN: the same rules in the same words, each one indivisible
   step of one loop, so that both checkers count the same states. GRANTS and BUG are given with -D; BUG is 1
   without the skew margin, 2 where a release is believed without its number, 3 where a waiter answers a recall. */
#ifndef GRANTS
#define GRANTS 3
#endif
#ifndef BUG
#define BUG 0
#endif
#define LEASE 2
#define SKEW 1

#define IDLE 0
#define WAITING 1
#define HOLDING 2
#define LOCKED 3
#define NOBODY 3

byte owner = NOBODY;
byte homeRemaining;
byte number;
bool recalled;
bool homeLocked;

byte mode[3];
byte remaining[3];
byte held[3];
byte grant[3];      /* remaining home ticks of the grant under way + SKEW + 1; 0: none */
byte grantNumber[3];
byte recall[3];
byte release[3];
byte behind[3];
bool request[3];

inline toIdle(i) { mode[i] = IDLE; remaining[i] = 0; held[i] = 0 }
inline free() { owner = NOBODY; recalled = false; homeRemaining = 0 }
inline age(i) { behind[i]++; if :: grant[i] > 1 -> grant[i]-- :: else fi }

#define INSIDE(i) (mode[i] >= HOLDING)
#define SAFE (homeLocked + INSIDE(0) + INSIDE(1) + INSIDE(2) <= 1)

#define DELEGATE(i) \
  :: d_step { behind[i] > 0 -> behind[i]--; \
       if :: mode[i] >= HOLDING -> if :: remaining[i] == 1 -> toIdle(i) :: else -> remaining[i]-- fi :: else fi } \
  :: d_step { mode[i] == IDLE -> mode[i] = WAITING; request[i] = true } \
  :: d_step { mode[i] == WAITING && !request[i] -> request[i] = true } \
  :: d_step { grant[i] > 0 -> \
       if :: mode[i] == WAITING && grant[i] + behind[i] > 1 + SKEW -> mode[i] = HOLDING; \
             remaining[i] = grant[i] + behind[i] - 1 - SKEW; held[i] = grantNumber[i]; assert(SAFE) :: else fi; \
       grant[i] = 0; grantNumber[i] = 0 } \
  :: d_step { mode[i] == HOLDING -> mode[i] = LOCKED } \
  :: d_step { mode[i] == LOCKED -> mode[i] = HOLDING } \
  :: d_step { mode[i] == HOLDING -> release[i] = held[i]; toIdle(i) } \
  :: d_step { recall[i] > 0 && mode[i] != LOCKED -> \
       if :: mode[i] == HOLDING && held[i] == recall[i] -> release[i] = recall[i]; toIdle(i) \
          :: else -> if :: BUG == 3 && mode[i] == WAITING -> release[i] = recall[i] :: else fi fi; \
       recall[i] = 0 } \
  :: d_step { request[i] && owner == NOBODY && !homeLocked && number < GRANTS -> \
       owner = i; number++; recalled = false; homeRemaining = (BUG == 1 -> LEASE : LEASE + SKEW); \
       request[i] = false; grant[i] = LEASE + SKEW + 1; grantNumber[i] = number } \
  :: d_step { request[i] && owner == i -> request[i] = false } \
  :: d_step { request[i] && owner != NOBODY && owner != i && !recalled -> recalled = true; recall[owner] = number } \
  :: d_step { release[i] > 0 -> \
       if :: owner == i && (BUG == 2 || release[i] == number) -> free() :: else fi; release[i] = 0 } \
  :: d_step { request[i] -> request[i] = false } \
  :: d_step { release[i] > 0 -> release[i] = 0 } \
  :: d_step { grant[i] > 0 -> grant[i] = 0; grantNumber[i] = 0 } \
  :: d_step { recall[i] > 0 -> recall[i] = 0 }

init {
  do
  :: d_step { owner != NOBODY && homeRemaining == 0 -> free() }
  :: d_step { owner == NOBODY && !homeLocked -> homeLocked = true; assert(SAFE) }
  :: d_step { homeLocked -> homeLocked = false }
  :: d_step { behind[0] < SKEW && behind[1] < SKEW && behind[2] < SKEW ->
       if :: homeRemaining > 0 -> homeRemaining-- :: else fi; age(0); age(1); age(2) }
  DELEGATE(0)
  DELEGATE(1)
  DELEGATE(2)
  od
}
