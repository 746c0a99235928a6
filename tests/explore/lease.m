-- The lease protocol of calibration_model.hpp for Murphi tools such as rumur: the same rules in the same words.
-- Delegates are a scalar set, which a tool may or may not use as a symmetry.

const LEASE: 2; SKEW: 1; GRANTS: 2;

type
  Delegate: scalarset(3);
  Number: 0..GRANTS;
  Ticks: 0..(LEASE + SKEW);
  Mode: enum { IDLE, WAITING, HOLDING, LOCKED };
  State: record
    mode: Mode; remaining: Ticks; held: Number; behind: 0..SKEW; request: boolean;
    grant: 0..(LEASE + SKEW + 1);  -- remaining home ticks of the grant under way + SKEW + 1; 0: none
    grantNumber: Number; recall: Number; release: Number;
  end;

var
  owned: boolean; owner: Delegate; homeRemaining: Ticks; number: Number; recalled: boolean; homeLocked: boolean;
  d: array [Delegate] of State;

procedure toIdle(i: Delegate); begin d[i].mode := IDLE; d[i].remaining := 0; d[i].held := 0; end;
procedure free(); begin owned := false; undefine owner; recalled := false; homeRemaining := 0; end;
function inside(i: Delegate): boolean; begin return d[i].mode = HOLDING | d[i].mode = LOCKED; end;
function mayTick(): boolean; begin for i: Delegate do if d[i].behind >= SKEW then return false; end; end; return true; end;

startstate begin
  free(); number := 0; homeLocked := false;
  for i: Delegate do
    toIdle(i); d[i].behind := 0; d[i].request := false; d[i].grant := 0; d[i].grantNumber := 0;
    d[i].recall := 0; d[i].release := 0;
  end;
end;

rule "home expires" owned & homeRemaining = 0 ==> begin free(); end;
rule "home locks" !owned & !homeLocked ==> begin homeLocked := true; end;
rule "home unlocks" homeLocked ==> begin homeLocked := false; end;
rule "home ticks" mayTick() ==> begin
  if homeRemaining > 0 then homeRemaining := homeRemaining - 1; end;
  for i: Delegate do
    d[i].behind := d[i].behind + 1;
    if d[i].grant > 1 then d[i].grant := d[i].grant - 1; end;
  end;
end;

ruleset i: Delegate do
  rule "ticks" d[i].behind > 0 ==> begin
    d[i].behind := d[i].behind - 1;
    if inside(i) then
      if d[i].remaining = 1 then toIdle(i); else d[i].remaining := d[i].remaining - 1; end;
    end;
  end;
  rule "requests" d[i].mode = IDLE ==> begin d[i].mode := WAITING; d[i].request := true; end;
  rule "asks again" d[i].mode = WAITING & !d[i].request ==> begin d[i].request := true; end;
  rule "receives grant" d[i].grant > 0 ==> begin
    if d[i].mode = WAITING & d[i].grant + d[i].behind > 1 + SKEW then
      d[i].mode := HOLDING; d[i].remaining := d[i].grant + d[i].behind - 1 - SKEW; d[i].held := d[i].grantNumber;
    end;
    d[i].grant := 0; d[i].grantNumber := 0;
  end;
  rule "locks" d[i].mode = HOLDING ==> begin d[i].mode := LOCKED; end;
  rule "unlocks" d[i].mode = LOCKED ==> begin d[i].mode := HOLDING; end;
  rule "releases" d[i].mode = HOLDING ==> begin d[i].release := d[i].held; toIdle(i); end;
  rule "receives recall" d[i].recall > 0 & d[i].mode != LOCKED ==> begin
    if d[i].mode = HOLDING & d[i].held = d[i].recall then d[i].release := d[i].recall; toIdle(i); end;
    d[i].recall := 0;
  end;
  rule "home grants" d[i].request & !owned & !homeLocked & number < GRANTS ==> begin
    owned := true; owner := i; number := number + 1; recalled := false; homeRemaining := LEASE + SKEW;
    d[i].request := false; d[i].grant := LEASE + SKEW + 1; d[i].grantNumber := number;
  end;
  rule "home ignores" d[i].request & owned & owner = i ==> begin d[i].request := false; end;
  rule "home recalls" d[i].request & owned & owner != i & !recalled ==> begin
    recalled := true; d[owner].recall := number;
  end;
  rule "home receives release" d[i].release > 0 ==> begin
    if owned & owner = i & d[i].release = number then free(); end;
    d[i].release := 0;
  end;
  rule "loses request" d[i].request ==> begin d[i].request := false; end;
  rule "loses release" d[i].release > 0 ==> begin d[i].release := 0; end;
  rule "loses grant" d[i].grant > 0 ==> begin d[i].grant := 0; d[i].grantNumber := 0; end;
  rule "loses recall" d[i].recall > 0 ==> begin d[i].recall := 0; end;
end;

invariant "exclusion"
  (forall i: Delegate do forall j: Delegate do i = j | !inside(i) | !inside(j) end end)
  & (!homeLocked | forall i: Delegate do !inside(i) end);
