import Foundation
import PingCommons
import Testing

private struct Threshold: MfaPolicy {
    struct Malformed: Error {}

    let name: String
    func evaluate(data: [String: Any]?) async throws -> Bool {
        guard let limit = data?["limit"] as? Int else { throw Malformed() }
        return limit > 10
    }
}

@Suite("Policies under the Ping SDK's names")
struct MfaPolicyTests {
    static let evaluations: [(policies: String?, violated: String?)] = [
        (nil, nil), ("", nil), ("{", nil), ("[]", nil), (#"{"other":{}}"#, nil),
        (#"{"first":{"limit":11},"second":{"limit":11}}"#, nil), (#"{"second":{"limit":10},"first":{"limit":10}}"#, "first"),
        (#"{"second":{"limit":1}}"#, "second"),
        // A policy that cannot be evaluated is ignored.
        (#"{"first":{},"second":{"limit":1}}"#, "second"), (#"{"first":7}"#, nil),
    ]

    @Test("The first policy that is not met is reported, in the evaluator's order", arguments: evaluations)
    func reportsFirstViolatedPolicy(row: (policies: String?, violated: String?)) async throws {
        let evaluator = MfaPolicyEvaluator.create { $0.policies = [Threshold(name: "first"), Threshold(name: "second")] }
        let result = await evaluator.evaluate(credentialPolicies: row.policies)
        #expect(result.nonCompliancePolicyName == row.violated)
        #expect(result.isSuccess == (row.violated == nil) && result.isFailure == (row.violated != nil))
        if let text = row.policies, let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] {
            let fromObject = await evaluator.evaluate(policiesJson: object)
            #expect(fromObject.nonCompliancePolicyName == row.violated)
        }
    }

    @Test("An evaluator without settings has no policies, and policies are found by name")
    func findsPoliciesByName() async {
        let none = await MfaPolicyEvaluator.create().getPolicies()
        #expect(none.isEmpty)
        let evaluator = MfaPolicyEvaluator.create { config in
            config.policies = [BiometricAvailablePolicy(), DeviceTamperingPolicy()]
        }
        let names = await evaluator.getPolicies().map(\.name)
        #expect(names == [BiometricAvailablePolicy.policyName, DeviceTamperingPolicy.policyName])
        let found = await evaluator.getPolicy(policyName: "deviceTampering")
        #expect(found is DeviceTamperingPolicy)
        let biometric = await evaluator.evaluate(credentialPolicies: #"{"biometricAvailable":{}}"#)
        #expect(biometric.nonCompliancePolicyName == "biometricAvailable")
        let tampering = await evaluator.evaluate(credentialPolicies: #"{"deviceTampering":{"score":1000}}"#)
        #expect(tampering.isSuccess)
    }
}
