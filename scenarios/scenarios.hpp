// The world in which a protocol's nodes live, and what is done to them there.
//
// A run is (options, rules, plan). The plan is data: operations of clients and faults, each with an instant,
// a node and an id that keys its draws, so that a plan can be edited, shrunk and run again on its own.
// Nothing else decides what happens.
//
// - options.hpp: every number of a run in one described struct, with text, validation and setting by path.
// - plan.hpp, swarm.hpp: plans as data and as JSON, and drawing one from a seed.
// - cluster.hpp: nodes with clocks, disks, processes and a network under one queue of events; the checkers
//   and the hash chain look on. cluster_delivery.cpp has messages and links, cluster_machine.cpp processes,
//   disks and logs, cluster_faults.cpp the faults of a plan and the healing.
// - client.hpp: the plan's clients, little state machines driven by replies.
// - coverage.hpp, sweep.hpp: what a run exercised, runs of one plan, and sweeps over seeds on several
// threads.
// - story.hpp: directed scenarios as coroutines on the Asio bridge.
// - scenario.hpp, families.hpp, registry.cpp, s_*.cpp: the directed scenarios with their twins.
//
// A new scenario is a file s_<family>.cpp and a line in families.hpp and in registry.cpp. A new kind of fault
// is an enumerator of FaultKind, a FaultRate in FaultOptions, its draw in swarm.cpp and its effect in
// cluster_faults.cpp.
#pragma once

#include "scenarios/client.hpp"
#include "scenarios/cluster.hpp"
#include "scenarios/coverage.hpp"
#include "scenarios/options.hpp"
#include "scenarios/plan.hpp"
#include "scenarios/run.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/sink.hpp"
#include "scenarios/swarm.hpp"
#include "scenarios/sweep.hpp"
