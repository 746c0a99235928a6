// The families of directed scenarios, a function each. registry.cpp puts them together.
#pragma once

#include <vector>

#include "scenarios/scenario.hpp"

namespace holdfast::scenarios {

std::vector<Scenario> amortizationScenarios();         // S-01 to S-05
std::vector<Scenario> leaseScenarios();                // S-10 to S-15
std::vector<Scenario> recallScenarios();               // S-20 to S-23
std::vector<Scenario> recallFailureScenarios();        // S-24
std::vector<Scenario> lateReleaseScenarios();          // S-25, S-48
std::vector<Scenario> freshnessScenarios();            // S-30 to S-35
std::vector<Scenario> recoveryScenarios();             // S-36 to S-38, R-FR-...
std::vector<Scenario> membershipScenarios();           // S-40, S-41, S-46, S-66
std::vector<Scenario> membershipAgreementScenarios();  // S-42 to S-47
std::vector<Scenario> homeMapScenarios();              // S-49
std::vector<Scenario> homeMapFaultScenarios();         // S-49
std::vector<Scenario> featureOffScenarios();           // S-50
std::vector<Scenario> limitScenarios();                // S-60 to S-65, S-67
std::vector<Scenario> counterScenarios();              // S-68
std::vector<Scenario> livenessScenarios();             // S-70
std::vector<Scenario> writeScenarios();                // R-LH-..., R-LW-...
std::vector<Scenario> containmentScenarios();          // R-..., a rule each
std::vector<Scenario> ricartAgrawalaScenarios();       // R-RA-...
std::vector<Scenario> ricartAgrawalaCostScenarios();   // R-RA-5-...
std::vector<Scenario> fenceScenarios();                // R-DG-5, R-FR-9: stand-ins that do not do
std::vector<Scenario> evidenceScenarios();             // R-LH-1, R-DR-3, R-FR-6, R-FR-8: what looks excused
std::vector<Scenario> answerTimeScenarios();     // R-DG-7, R-DG-10, ...: what still counts, and for whom
std::vector<Scenario> replicaScenarios();        // R-FR-3, R-FR-8, R-LW-3, R-BD-3: what reaches a replica
std::vector<Scenario> startScenarios();          // R-EP-14: what an earlier start of a process had asked
std::vector<Scenario> configurationScenarios();  // R-RT-2, R-RT-4, R-BD-1: names, keys and tables

}  // namespace holdfast::scenarios
