import FRAuthenticator
import Foundation
import SignetCore
import SignetTesting
import Testing

@Suite("Policies and account locks")
struct PolicyTests {
    /// A switch by which a test decides whether a policy is met.
    private final class Switch: Sendable {
        private let value = Mutex(true)
        var isMet: Bool { value.withLock { $0 } }
        func set(_ isMet: Bool) { value.withLock { $0 = isMet } }
    }

    private struct Switched: FRAPolicy {
        let name = "custom"
        var data: Any?
        let decision: Switch

        init(_ decision: Switch) {
            self.decision = decision
        }

        func evaluate() -> Bool { decision.isMet }
    }

    private static let policies = #"{"custom":{"level":3}}"#

    private func client(_ decision: Switch, _ recording: ClientRecording = ClientRecording()) throws -> FRAClient {
        let transport = ScriptedTransport(ClientFixture.accept)
        return try FRAClientBuilder(ClientFixture.settings(transport, ManualClock(Sample.start)))
            .withStorage(RecordingClient(recording)).withPolicy(Switched(decision)).start()
    }

    @Test("An account is locked while its policy is not met, and storage does not change")
    func locksAccountWhilePolicyIsNotMet() async throws {
        let decision = Switch()
        let recording = ClientRecording()
        let client = try client(decision, recording)
        let uri = Sample.totp(policies: Self.policies)
        let totp = try #require(try await client.createMechanismFromUri(uri) as? TOTPMechanism)
        #expect(client.getAllAccounts()[0].lock == false)
        #expect(try totp.generateCode().code.count == 6)

        decision.set(false)
        recording.begin()
        let account = client.getAllAccounts()[0]
        #expect(account.lock)
        #expect(account.lockingPolicy == "custom")
        #expect(throws: AccountError.accountLocked("custom")) { try totp.generateCode() }
        account.displayIssuer = "Harbour"
        #expect(throws: AccountError.accountLocked("custom")) { try client.updateAccount(account: account) }
        #expect(throws: AccountError.failToUnlockAccountNotLocked) { try client.unlockAccount(account: account) }
        #expect(recording.changes == 0)

        decision.set(true)
        #expect(!client.getAllAccounts()[0].lock)
        #expect(try totp.generateCode().code.count == 6)
    }

    @Test("A policy that is not met refuses an enrollment before the server is asked")
    func refusesEnrollmentWhenPolicyIsNotMet() async throws {
        let decision = Switch()
        decision.set(false)
        let recording = ClientRecording()
        let client = try client(decision, recording)
        try client.registerForRemoteNotifications("token-1")
        await #expect(throws: AccountError.failToRegisterPolicyViolation("custom")) {
            try await client.createMechanismFromUri(Sample.combined(policies: Self.policies))
        }
        #expect(recording.content.accounts.isEmpty)
        #expect(recording.content.mechanisms.isEmpty)
    }

    @Test(
        "A policy that is not met refuses an enrollment from a URI with white space or a plain HTTP server",
        arguments: [" \n\(Sample.combined(policies: policies))\n", plainHTTP])
    func refusesEnrollmentForEveryFormOfURI(uri: String) async throws {
        let decision = Switch()
        decision.set(false)
        let recording = ClientRecording()
        var settings = ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
        settings.endpoints = .allowingPlainHTTP(to: ["am.example.test"])
        let client = try await FRAClientBuilder(settings).withStorage(RecordingClient(recording)).withPolicy(Switched(decision))
            .start()
        try client.registerForRemoteNotifications("token-1")
        await #expect(throws: AccountError.failToRegisterPolicyViolation("custom")) {
            try await client.createMechanismFromUri(uri)
        }
        #expect(recording.content.accounts.isEmpty)
    }

    private static var plainHTTP: String {
        ["register", "authenticate"].reduce(Sample.combined(policies: policies)) { uri, action in
            let address = Sample.endpoint + action
            return uri.replacing(Sample.base64(address), with: Sample.base64(address.replacing("https", with: "http")))
        }
    }

    @Test("An account that the app locks stays locked until the app unlocks it")
    func keepsManualLockUntilUnlocked() async throws {
        let client = try client(Switch())
        let uri = Sample.totp(policies: Self.policies)
        let totp = try #require(try await client.createMechanismFromUri(uri) as? TOTPMechanism)
        let account = client.getAllAccounts()[0]
        #expect(throws: AccountError.failToUnlockAccountNotLocked) { try client.unlockAccount(account: account) }
        #expect(throws: AccountError.failToLockMissingPolicyName) {
            try client.lockAccount(account: account, policy: NamedPolicy(name: ""))
        }
        #expect(throws: AccountError.failToLockInvalidPolicy) {
            try client.lockAccount(account: account, policy: NamedPolicy(name: "deviceTampering"))
        }
        let locked = try client.lockAccount(account: account, policy: NamedPolicy(name: "custom"))
        #expect(locked)
        #expect(account.lockingPolicy == "custom")
        #expect(client.getAllAccounts()[0].lockingPolicy == "custom")
        #expect(throws: AccountError.failToLockAccountAlreadyLocked) {
            try client.lockAccount(account: account, policy: NamedPolicy(name: "custom"))
        }
        #expect(throws: AccountError.accountLocked("custom")) { try totp.generateCode() }
        let unlocked = try client.unlockAccount(account: account)
        #expect(unlocked)
        #expect(try totp.generateCode().code.count == 6)
    }

    @Test("Locking and unlocking check the stored lock, not the lock of the app's account object")
    func checksStoredLockRatherThanObject() async throws {
        let client = try client(Switch())
        _ = try await client.createMechanismFromUri(Sample.totp(policies: Self.policies))
        let account = client.getAllAccounts()[0]
        account.lock(policy: NamedPolicy(name: "custom"))
        let locked = try client.lockAccount(account: account, policy: NamedPolicy(name: "custom"))
        #expect(locked)
        #expect(client.getAllAccounts()[0].lock)
        account.unlock()
        let unlocked = try client.unlockAccount(account: account)
        #expect(unlocked)
        #expect(!client.getAllAccounts()[0].lock)
    }

    @Test("Removing a changed account also removes a mechanism that was enrolled after the account was read")
    func removesMechanismsEnrolledAfterAccountWasRead() async throws {
        let recording = ClientRecording()
        let client = try client(Switch(), recording)
        try client.registerForRemoteNotifications("token-1")
        _ = try await client.createMechanismFromUri(Sample.totp(policies: Self.policies))
        let account = client.getAllAccounts()[0]
        _ = try await client.createMechanismFromUri(Sample.push)
        account.displayIssuer = "Harbour"
        let updated = try client.updateAccount(account: account)
        #expect(updated)
        #expect(client.removeAccount(account: account))
        #expect(recording.content.accounts.isEmpty && recording.content.mechanisms.isEmpty)
    }

    @Test("A locked account receives notifications, refuses to answer them and can be removed")
    func lockedAccountReceivesButDoesNotAnswerPush() async throws {
        let recording = ClientRecording()
        let client = try client(Switch(), recording)
        try client.registerForRemoteNotifications("token-1")
        let push = try #require(
            try await client.createMechanismFromUri(Sample.combined(policies: Self.policies)) as? PushMechanism)
        let account = client.getAllAccounts()[0]
        try client.lockAccount(account: account, policy: NamedPolicy(name: "custom"))
        let notification = try client.handleMessage("1", try Sample.message(to: push.mechanismUUID))
        await #expect(throws: AccountError.accountLocked("custom")) { try await notification.accept() }
        await #expect(throws: AccountError.accountLocked("custom")) { try await notification.deny() }
        #expect(notification.isPending)
        #expect(client.removeAccount(account: account))
        #expect(recording.content.accounts.isEmpty)
        #expect(recording.content.notifications.isEmpty)
    }

    /// An evaluator that also refuses every account on demand, and URIs of one issuer.
    private final class Subclass: FRAPolicyEvaluator {
        private let refused: Switch

        init(_ refused: Switch) {
            self.refused = refused
        }

        override func evaluate(account: Account) -> Result {
            refused.isMet ? super.evaluate(account: account) : Result(comply: false, nonCompliancePolicy: nil)
        }

        override func evaluate(uri: URL) -> Result {
            uri.absoluteString.contains("Elsewhere")
                ? Result(comply: false, nonCompliancePolicy: NamedPolicy(name: "origin")) : super.evaluate(uri: uri)
        }

        override func isPolicyAttached(account: Account, policyName: String) -> Bool { policyName == "extra" }
    }

    @Test("A subclass of the policy evaluator decides about accounts and enrollment URIs")
    func usesSubclassOfPolicyEvaluator() async throws {
        let decision = Switch()
        let client = try await FRAClientBuilder(
            ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
        )
        .withStorage(RecordingClient(ClientRecording())).withPolicyEvaluator(Subclass(decision)).start()
        try client.registerForRemoteNotifications("token-1")
        await #expect(throws: AccountError.failToRegisterPolicyViolation("origin")) {
            try await client.createMechanismFromUri(Sample.totp.replacing("Harbor", with: "Elsewhere") + "\n")
        }
        let push = try #require(try await client.createMechanismFromUri(Sample.combined) as? PushMechanism)
        let timed = client.getAllAccounts()[0].mechanisms.compactMap { $0 as? TOTPMechanism }
        let totp = try #require(timed.first)
        let notification = try client.handleMessage("1", try Sample.message(to: push.mechanismUUID))
        decision.set(false)
        #expect(client.getAllAccounts()[0].lockingPolicy == "policy")
        #expect(throws: AccountError.accountLocked("policy")) { try totp.generateCode() }
        await #expect(throws: AccountError.accountLocked("policy")) { try await notification.accept() }
        decision.set(true)
        #expect(try totp.generateCode().code == "867205")
        let account = client.getAllAccounts()[0]
        #expect(throws: AccountError.failToLockInvalidPolicy) {
            try client.lockAccount(account: account, policy: NamedPolicy(name: "biometricAvailable"))
        }
        let locked = try client.lockAccount(account: account, policy: NamedPolicy(name: "extra"))
        #expect(locked)
    }

    @Test("The builder's policies replace the default ones in any order of calls, and need a name")
    func builderPoliciesReplaceDefaultPolicies() async throws {
        func builder() -> FRAClientBuilder {
            FRAClientBuilder(ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start)))
                .withStorage(RecordingClient(ClientRecording()))
        }
        let uri = Sample.totp(policies: #"{"biometricAvailable":{},"last":{},"first":{}}"#)
        for client in [
            try await builder().withPolicies([NamedPolicy(name: "first", isMet: false)])
                .withPolicy(NamedPolicy(name: "last", isMet: false)).start(),
            try await builder().withPolicy(NamedPolicy(name: "last", isMet: false))
                .withPolicies([NamedPolicy(name: "first", isMet: false)]).start(),
            try await builder().withPolicies([NamedPolicy(name: "first", isMet: false)]).withoutDefaultPolicies().start(),
        ] {
            await #expect(throws: AccountError.failToRegisterPolicyViolation("first")) {
                try await client.createMechanismFromUri(uri)
            }
        }
        let client = try await builder().withPolicy(NamedPolicy(name: "last", isMet: false)).start()
        await #expect(throws: AccountError.failToRegisterPolicyViolation("biometricAvailable")) {
            try await client.createMechanismFromUri(uri)
        }
        let one = try await builder().withPolicies([NamedPolicy(name: "other")]).start()
        _ = try await one.createMechanismFromUri(uri)
        #expect(throws: FRAError.invalidPolicyRegisteredWithPolicyEvaluator("a policy of the builder")) {
            try builder().withPolicies([NamedPolicy(name: "first"), NamedPolicy(name: "")])
        }
    }

    @Test("The evaluator asks policies in registration order with the issuer's parameters and skips unknown names")
    func evaluatesPoliciesInRegistrationOrder() throws {
        let evaluator = FRAPolicyEvaluator()
        #expect(evaluator.policies?.map(\.name) == ["biometricAvailable", "deviceTampering"])
        let first = Parameters(name: "first")
        try evaluator.registerPolicies(policies: [first, NamedPolicy(name: "second", isMet: false)])
        #expect(evaluator.policies?.map(\.name) == ["first", "second"])
        #expect(throws: FRAError.invalidPolicyRegisteredWithPolicyEvaluator("NamedPolicy")) {
            try evaluator.registerPolicies(policies: [NamedPolicy(name: "third"), NamedPolicy(name: "")], shouldOverride: false)
        }
        #expect(evaluator.policies?.count == 2)

        let account = try Account.fromJson(
            #"{"issuer":"i","accountName":"a","timeAdded":1,"policies":"{\"second\":{},\"first\":{\"level\":3},\"unknown\":{}}"}"#
        )
        let result = evaluator.evaluate(account: account)
        #expect(!result.comply)
        #expect(result.nonCompliancePolicy?.name == "second")
        #expect(first.level.value == 3)
        #expect(evaluator.isPolicyAttached(account: account, policyName: "unknown"))
        #expect(!evaluator.isPolicyAttached(account: account, policyName: "third"))
        let uri = try #require(URL(string: Sample.totp(policies: #"{"second":{}}"#)))
        #expect(!evaluator.evaluate(uri: uri).comply)
        let plain = try #require(URL(string: Sample.totp))
        #expect(evaluator.evaluate(uri: plain).comply)
    }

    /// The policies of an evaluator after two registrations, by the first and by whether the second replaces it.
    static let registrations: [(first: [String]?, second: [String], replaces: Bool, names: [String])] = [
        (nil, ["dummy"], true, ["dummy"]),
        (["dummy"], ["biometricAvailable", "deviceTampering"], true, ["biometricAvailable", "deviceTampering"]),
        (["dummy"], ["biometricAvailable", "deviceTampering"], false, ["dummy", "biometricAvailable", "deviceTampering"]),
        (nil, [], false, ["biometricAvailable", "deviceTampering"]), (nil, [], true, []),
        (nil, ["deviceTampering"], false, ["biometricAvailable", "deviceTampering", "deviceTampering"]),
    ]

    @Test("Registered policies replace the former ones or follow them", arguments: registrations.indices)
    func registersPolicies(index: Int) throws {
        let (first, second, replaces, names) = Self.registrations[index]
        let evaluator = FRAPolicyEvaluator()
        #expect(evaluator.policies?.count == FRAPolicyEvaluator.defaultPolicies.count)
        if let first { try evaluator.registerPolicies(policies: first.map { NamedPolicy(name: $0) }) }
        try evaluator.registerPolicies(policies: second.map { NamedPolicy(name: $0) }, shouldOverride: replaces)
        #expect(evaluator.policies?.map(\.name) == names)
    }

    @Test(
        "The policies of a combined URI are evaluated when they are registered",
        arguments: [
            (#"{"dummy": { }}"#, nil), (#"{"dummy": { }, "failing": { }}"#, "failing"), (#"{"unknown": { }}"#, nil),
        ] as [(String, String?)])
    func evaluatesURIPolicies(policies: String, violated: String?) throws {
        let evaluator = FRAPolicyEvaluator()
        let uri = try #require(URL(string: Sample.combined(policies: policies)))
        try evaluator.registerPolicies(policies: [NamedPolicy(name: "dummy")])
        #expect(evaluator.evaluate(uri: uri).comply)
        try evaluator.registerPolicies(policies: [NamedPolicy(name: "failing", isMet: false)], shouldOverride: false)
        let result = evaluator.evaluate(uri: uri)
        #expect(result.comply == (violated == nil) && result.nonCompliancePolicy?.name == violated)
    }

    /// A policy that counts its calls by the parameters it was given.
    private final class Parameters: FRAPolicy {
        let name: String
        let level = Tally()
        var data: Any?

        init(name: String) {
            self.name = name
        }

        func evaluate() -> Bool {
            for _ in 0..<(((data as? [String: Any])?["level"] as? Int) ?? 0) { level.add() }
            return true
        }
    }

    @Test("The built-in policies decide by biometric availability and tampering score")
    func evaluatesBuiltInPolicies() {
        #expect(!BiometricAvailablePolicy().evaluate())
        let available = BiometricAvailablePolicy(isAvailable: { true })
        #expect(available.evaluate())
        let tampering = DeviceTamperingPolicy()
        tampering.data = ["score": 0.0]
        #expect(!tampering.evaluate())
        tampering.data = ["score": 1.5]
        #expect(tampering.evaluate())
    }
}
