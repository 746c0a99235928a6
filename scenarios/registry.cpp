// The list of all directed scenarios: a line for each family, in the order of their ids.
#include <array>

#include "scenarios/families.hpp"
#include "scenarios/scenario.hpp"

namespace holdfast::scenarios {
namespace {

constexpr std::array kFamilies = {
    &amortizationScenarios,         //
    &leaseScenarios,                //
    &recallScenarios,               //
    &recallFailureScenarios,        //
    &lateReleaseScenarios,          //
    &freshnessScenarios,            //
    &recoveryScenarios,             //
    &evidenceScenarios,             //
    &membershipScenarios,           //
    &membershipAgreementScenarios,  //
    &homeMapScenarios,              //
    &homeMapFaultScenarios,         //
    &featureOffScenarios,           //
    &limitScenarios,                //
    &counterScenarios,              //
    &livenessScenarios,             //
    &writeScenarios,                //
    &containmentScenarios,          //
    &ricartAgrawalaScenarios,       //
    &ricartAgrawalaCostScenarios,   //
    &fenceScenarios,                //
    &answerTimeScenarios,           //
    &replicaScenarios,              //
    &startScenarios,                //
    &configurationScenarios,        //
};

}  // namespace

const std::vector<Scenario>& allScenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> scenarios;
    for (const auto family : kFamilies) {
      for (Scenario& scenario : family()) scenarios.push_back(std::move(scenario));
    }
    return scenarios;
  }();
  return all;
}

}  // namespace holdfast::scenarios
