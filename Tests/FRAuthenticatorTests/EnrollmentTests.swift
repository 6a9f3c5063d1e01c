import FRAuthenticator
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

/// Enrollment URIs that the ForgeRock SDK takes or refuses in a way of its own.
@Suite("Enrollment URIs of the ForgeRock SDK")
struct EnrollmentTests {
    private static func plainHTTP(_ uri: String) -> String {
        ["register", "authenticate"].reduce(uri) { uri, action in
            let address = Sample.endpoint + action
            return uri.replacing(Sample.base64(address), with: Sample.base64(address.replacing("https", with: "http")))
        }
    }

    @Test(
        "The algorithm of a URI has its name, in any letter case",
        arguments: [
            ("", .sha1), ("&algorithm=sha1", .sha1), ("&algorithm=sha256", .sha256), ("&algorithm=SHA256", .sha256),
            ("&algorithm=sha512", .sha512),
        ] as [(String, OathAlgorithm)])
    func namesAlgorithm(parameter: String, algorithm: OathAlgorithm) async throws {
        for uri in [Sample.totp, Sample.hotp] {
            let fixture = try ClientFixture(RecordingClient(ClientRecording()))
            let mechanism = try await fixture.client.createMechanismFromUri(uri + parameter)
            let oath = try #require(mechanism as? OathMechanism)
            #expect(oath.algorithm == algorithm && oath.type == (uri == Sample.totp ? "totp" : "hotp"))
        }
    }

    @Test("An algorithm that isn't supported is refused with its parameter and without its value", arguments: ["rs512", "md5"])
    func refusesUnsupportedAlgorithmInURI(name: String) async throws {
        for uri in [Sample.totp, Sample.hotp] {
            let fixture = try ClientFixture(RecordingClient(ClientRecording()))
            let error = await #expect(throws: MechanismError.self) {
                try await fixture.client.createMechanismFromUri(uri + "&algorithm=" + name)
            }
            guard case .invalidInformation(let reason) = error else {
                Issue.record("another error")
                return
            }
            #expect(reason.hasPrefix("algorithm: ") && !reason.contains(name))
        }
    }

    @Test("Codes have 6 or 8 digits, as in the ForgeRock SDK", arguments: [(4, false), (6, true), (7, false), (8, true)])
    func takesSixOrEightDigits(digits: Int, isTaken: Bool) async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let uri = "\(Sample.totp)&digits=\(digits)"
        if isTaken {
            #expect((try await fixture.client.createMechanismFromUri(uri) as? OathMechanism)?.digits == digits)
        } else {
            await #expect(throws: MechanismError.invalidInformation("digits (\(digits))")) {
                try await fixture.client.createMechanismFromUri(uri)
            }
        }
    }

    @Test("Codes of ten digits and codes of Steam are refused, as in the ForgeRock SDK")
    func refusesCodesBeyondForgeRock() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        await #expect(throws: MechanismError.invalidInformation("digits: not a number from 4 to 8")) {
            try await fixture.client.createMechanismFromUri("\(Sample.totp)&digits=10")
        }
        await #expect(throws: MechanismError.invalidType) {
            try await fixture.client.createMechanismFromUri("\(Sample.totp)&encoder=steam")
        }
        #expect(fixture.client.getAllAccounts().isEmpty)
    }

    @Test("A second mechanism of a type is refused with the identifier of the first, in a combined URI too")
    func refusesDuplicates() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        try fixture.client.registerForRemoteNotifications("token-1")
        for uri in [Sample.totp, Sample.hotp] { _ = try await fixture.client.createMechanismFromUri(uri) }
        let expected = [(Sample.totp, "totp"), (Sample.hotp, "hotp"), (Sample.combined, "totp")]
        for (uri, type) in expected {
            await #expect(throws: MechanismError.alreadyExists("\(Sample.identifier)-\(type)")) {
                try await fixture.client.createMechanismFromUri(uri)
            }
        }
        #expect(fixture.client.getAllAccounts().map(\.identifier) == [Sample.identifier])
        #expect(fixture.client.getAccount(identifier: Sample.identifier)?.mechanisms.count == 2)
        #expect(fixture.transport.requests.isEmpty)
        _ = try await fixture.client.createMechanismFromUri(Sample.push)
        let second = Sample.combined.replacing("mfauth://totp", with: "pushauth://push")
        await #expect(throws: MechanismError.alreadyExists("\(Sample.identifier)-push")) {
            try await fixture.client.createMechanismFromUri(second)
        }
    }

    @Test(
        "Policies that can't be read are ignored, as in the ForgeRock SDK",
        arguments: ["%21", "e30x", Sample.base64("[]"), Sample.base64("{broken"), Sample.base64("text")])
    func ignoresDamagedPolicies(policies: String) async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let uri = "\(Sample.totp)&policies=\(policies)"
        let evaluator = FRAPolicyEvaluator()
        #expect(evaluator.evaluate(uri: try #require(URL(string: uri))).comply)
        _ = try await fixture.client.createMechanismFromUri(uri)
        let account = try #require(fixture.client.getAccount(identifier: Sample.identifier))
        #expect(account.policies == nil && !account.lock)
        #expect(!evaluator.isPolicyAttached(account: account, policyName: "deviceTampering"))
    }

    @Test("A URI that is too long is refused")
    func refusesLongURI() async throws {
        let fixture = try ClientFixture(RecordingClient(ClientRecording()))
        let uri = Sample.totp + "&image=" + String(repeating: "a", count: EnrollmentURI.maxLength)
        await #expect(throws: MechanismError.invalidQRCode) { try await fixture.client.createMechanismFromUri(uri) }
        await #expect(throws: MechanismError.invalidQRCode) {
            try await fixture.client.createMechanismFromUri(uri: try #require(URL(string: uri)))
        }
    }

    @Test("A plain HTTP server is refused with the name of the setting, and taken when the app allows its host")
    func takesPlainHTTPOnlyFromAllowedHosts() async throws {
        let uri = Self.plainHTTP(Sample.push)
        let transport = ScriptedTransport(ClientFixture.accept)
        func builder() -> FRAClientBuilder {
            FRAClientBuilder(ClientFixture.settings(transport, ManualClock(Sample.start)))
                .withStorage(RecordingClient(ClientRecording()))
        }
        let strict = try await builder().start()
        try strict.registerForRemoteNotifications("token-1")
        let error = await #expect(throws: MechanismError.self) { try await strict.createMechanismFromUri(uri) }
        #expect(error?.description.contains("FRAClient.allowPlainHTTP(to:)") == true)
        #expect(error?.description.contains("FRAClientBuilder.withPlainHTTP(to:)") == true)
        #expect(transport.requests.isEmpty)

        let other = try await builder().withPlainHTTP(to: ["other.example.test"]).start()
        try other.registerForRemoteNotifications("token-1")
        await #expect(throws: MechanismError.self) { try await other.createMechanismFromUri(uri) }
        let lenient = try await builder().withPlainHTTP(to: ["AM.example.test"]).start()
        try lenient.registerForRemoteNotifications("token-1")
        #expect(try await lenient.createMechanismFromUri(uri) is PushMechanism)
        let arePlain = transport.requests.map { $0.url.hasPrefix("http://am.example.test/") }
        #expect(arePlain == [true])

        try await FRAProcess.$current.withValue(FRAProcess(ClientFixture.settings(transport, ManualClock(Sample.start)))) {
            try FRAClient.setStorage(storage: RecordingClient(ClientRecording())).get()
            try FRAClient.allowPlainHTTP(to: ["am.example.test"])
            await FRAClient.start()
            #expect(throws: FRAError.invalidStateForChangingPolicyEvaluator) { try FRAClient.allowPlainHTTP(to: []) }
            let client = try #require(FRAClient.shared)
            try client.registerForRemoteNotifications("token-1")
            #expect(try await client.createMechanismFromUri(uri) is PushMechanism)
        }
    }
}
