import Crypto
import Foundation
import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("Device binding keys")
struct DeviceBindingTests {
    private static let device = DeviceBinding.Device(identifier: "d-1", name: "Mira's laptop", application: "org.example.app")
    private static let clock = ManualClock(Date(timeIntervalSince1970: 1_735_689_600))

    private func vault(_ directory: TemporaryDirectory, in store: any RecordStore = MemoryStore()) throws -> Vault {
        try Vault.create(in: store, protector: KeyFile.create(path: directory.file("key")))
    }

    private static let server = "https://am.example.test/am"

    private func binding(
        _ keys: any DeviceBindingKeys, url: String = server, realm: Realm = .root, timer: any Clock<Duration> = ContinuousClock()
    ) throws -> DeviceBinding {
        DeviceBinding(
            keys, for: try ServerProfile(url: url, realm: realm), device: Self.device, clock: Self.clock, timer: timer)
    }

    private func owner(_ userID: String, server: String = server, realm: Realm = .root) -> DeviceKeyOwner {
        DeviceKeyOwner(server: server, realm: realm, userID: userID, username: userID)
    }

    private func step(_ changes: [String: JSONValue] = ["authenticationType": .string("NONE")]) throws -> JourneyStep {
        let callbacks = try ["DeviceBindingCallback", "DeviceSigningVerifierCallback"].map { type in
            var callback = try Recorded.first(type)
            for index in callback.output.indices {
                if let value = changes[callback.output[index].name] { callback.output[index].value = value }
            }
            return callback
        }
        return JourneyStep(authId: "a", callbacks: callbacks)
    }

    private struct Signature {
        let header: JSONValue
        let payload: JSONValue
        private let input: String
        private let signature: [UInt8]

        init(_ jws: String?) throws {
            let parts = try #require(jws).split(separator: ".", omittingEmptySubsequences: false)
            try #require(parts.count == 3)
            header = try JSON.value(of: Base64.decode(parts[0]))
            payload = try JSON.value(of: Base64.decode(parts[1]))
            input = "\(parts[0]).\(parts[1])"
            signature = try Base64.decode(parts[2])
        }

        func isValid(for key: [UInt8]) throws -> Bool {
            let key = try P256.Signing.PublicKey(x963Representation: key)
            return key.isValidSignature(try .init(rawRepresentation: signature), for: Data(input.utf8))
        }
    }

    @Test("A bound key's signature verifies with its public key, and the key signs again later")
    func bindsAndSigns() async throws {
        try await TemporaryDirectory.with { directory in
            let vault = try vault(directory)
            var step = try self.step()
            let key = try #require(try await step.answerDeviceBinding(with: binding(VaultDeviceKeys(vault))).key)
            let inputs = step.callbacks[0].inputs
            #expect(inputs["deviceId"] == .string("d-1") && inputs["deviceName"] == .string("Mira's laptop"))
            #expect(inputs["clientError"] == .string(""))
            let bound = try Signature(inputs["jws"]?.string)
            let jwk = try #require(bound.header["jwk"])
            let point = try [4] + Base64.decode(jwk["x"]?.string ?? "") + Base64.decode(jwk["y"]?.string ?? "")
            #expect(point == key.publicKey)
            #expect(try bound.isValid(for: point))
            #expect(bound.header["alg"] == .string("ES256") && bound.header["kid"] == .string(key.id))
            #expect(jwk["kid"] == .string(key.id) && jwk["use"] == .string("sig") && jwk["crv"] == .string("P-256"))
            #expect(
                bound.payload
                    == .object([
                        "sub": .string("id=demo,ou=user,dc=am"), "challenge": .string("c2FtcGxl"),
                        "iss": .string("org.example.app"), "platform": .string("linux"), "iat": .integer(1_735_689_600),
                        "nbf": .integer(1_735_689_600), "exp": .integer(1_735_689_660),
                    ]))

            // Another process at a later time.
            let again = try binding(VaultDeviceKeys(vault))
            let failure = try await step.answerDeviceSigning(with: again, claims: ["amount": .integer(7)])
            #expect(failure == nil)
            let signed = try Signature(step.callbacks[1].inputs["jws"]?.string)
            #expect(try signed.isValid(for: key.publicKey))
            #expect(signed.header["jwk"] == nil && signed.header["kid"] == .string(key.id))
            #expect(signed.payload["amount"] == .integer(7) && signed.payload["sub"] == .string(key.owner.userID))
        }
    }

    @Test("Keys are stored encrypted and remain after a restart")
    func keysAreStoredEncrypted() async throws {
        try await TemporaryDirectory.with { directory in
            let store = MemoryStore()
            let vault = try vault(directory, in: store)
            let keys = VaultDeviceKeys(vault)
            let key = try await keys.makeKey(for: owner("user-id-in-clear"), protection: .none, at: Self.clock.now)
            var stored: [UInt8] = []
            for kind in RecordKind.allCases {
                try store.read { (records: any RecordReader) throws(StoreError) in
                    try records.forEachRecord(of: kind) { (record) throws(StoreError) in stored += try record.content.get() }
                }
            }
            #expect(!stored.isEmpty)
            #expect(!String(decoding: stored, as: UTF8.self).contains("user-id-in-clear"))
            #expect(try await VaultDeviceKeys(vault).keys() == [key])
        }
    }

    @Test("A key that requires the user's consent is created and used only with it")
    func keyRequiresConsent() async throws {
        try await TemporaryDirectory.with { directory in
            let vault = try vault(directory)
            func clientError(_ presence: Presence?, _ type: DeviceAuthenticationType) async throws -> JSONValue? {
                var step = try self.step(["authenticationType": .string(type.rawValue)])
                try await step.answerDeviceBinding(with: binding(VaultDeviceKeys(vault, presence: presence)))
                return step.callbacks[0].inputs["clientError"]
            }
            #expect(try await clientError(nil, .biometricOnly) == .string("Unsupported"))
            #expect(try await clientError(Presence(supported: [.applicationPIN]), .biometricOnly) == .string("Unsupported"))
            #expect(
                try await clientError(Presence(supported: [.biometricOnly], agrees: false), .biometricOnly) == .string("Abort"))
            #expect(try await VaultDeviceKeys(vault).keys().isEmpty)
            #expect(try await clientError(Presence(supported: [.biometricOnly]), .biometricOnly) == .string(""))
            #expect(try await VaultDeviceKeys(vault).keys().map(\.authenticationType) == [.biometricOnly])
            // The key outlives its prompt; it is not used without asking.
            var step = try self.step()
            #expect(try await step.answerDeviceSigning(with: binding(VaultDeviceKeys(vault)))?.clientError == .unsupported)
        }
    }

    private struct Presence: DevicePresence {
        let supported: Set<DeviceAuthenticationType>
        var agrees = true
        func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool { agrees }
    }

    @Test("A binding failure is reported to the server by its name", arguments: DeviceClientError.allCases)
    func reportsBindingFailure(error: DeviceClientError) async throws {
        var step = try self.step()
        let keys = BrokenKeys(error: error)
        #expect(try await step.answerDeviceBinding(with: binding(keys)).key == nil)
        #expect(step.callbacks[0].inputs["clientError"] == .string(error.rawValue))
        #expect(step.callbacks[0].inputs["jws"] == .string(""))
    }

    @Test("Any other error is reported to the server as Abort, and a cancellation is not reported")
    func reportsOtherErrorsAsAbort() async throws {
        var step = try self.step()
        try await step.answerDeviceBinding(with: binding(BrokenKeys(error: Unexpected())))
        #expect(step.callbacks[0].inputs["clientError"] == .string("Abort"))
        var untouched = try self.step()
        await #expect(throws: CancellationError.self) {
            try await untouched.answerDeviceBinding(with: binding(BrokenKeys(error: CancellationError())))
        }
        #expect(untouched == (try self.step()))
        #expect(try await step.answerDeviceSigning(with: binding(BrokenKeys(error: nil)))?.clientError == .clientNotRegistered)
        var unknown = try self.step(["authenticationType": .string("RETINA")])
        try await unknown.answerDeviceBinding(with: binding(BrokenKeys(error: nil)))
        #expect(unknown.callbacks[0].inputs["clientError"] == .string("Unsupported"))
    }

    @Test("The app receives the full local error, and the server its name only")
    func localErrorStaysWithApp() async throws {
        let locked = StoreError(.keyUnavailable, "open the vault", "the keyring is locked")
        let keys = BrokenKeys(error: locked, failsToList: true)
        var step = try self.step()
        let binding = try binding(keys)
        let failures = [
            try await step.answerDeviceBinding(with: binding).failure, try await step.answerDeviceSigning(with: binding),
        ]
        for failure in failures {
            #expect(failure?.clientError == .abort && failure?.cause as? StoreError == locked)
            #expect(failure?.description.contains("the keyring is locked") == true)
        }
        let unaborted = step.callbacks.filter { $0.inputs["clientError"] != .string("Abort") }
        #expect(unaborted.isEmpty)
        let unsupported = try await step.answerDeviceBinding(with: self.binding(BrokenKeys(error: DeviceClientError.unsupported)))
        #expect(unsupported.failure?.clientError == .unsupported && unsupported.failure?.cause == nil && unsupported.key == nil)
    }

    private struct BrokenKeys: DeviceBindingKeys {
        let error: (any Error)?
        var failsToList = false
        func makeKey(for owner: DeviceKeyOwner, protection: DeviceAuthenticationType, at now: Date) async throws -> DeviceKey {
            throw error ?? Unexpected()
        }
        func confirm(_ key: DeviceKey) async throws {}
        func keys() async throws -> [DeviceKey] {
            if failsToList, let error { throw error }
            return []
        }
        func sign(_ bytes: [UInt8], with key: DeviceKey) async throws -> [UInt8] { [] }
        func remove(_ key: DeviceKey) async throws {}
    }

    @Test("A request for hardware attestation is answered with Unsupported")
    func refusesAttestation() async throws {
        try await TemporaryDirectory.with { directory in
            let keys = VaultDeviceKeys(try vault(directory))
            var step = try self.step(["authenticationType": .string("NONE"), "attestation": .bool(true)])
            #expect(try await step.answerDeviceBinding(with: binding(keys)).key == nil)
            #expect(step.callbacks[0].inputs["clientError"] == .string("Unsupported"))
            #expect(step.callbacks[0].inputs["jws"] == .string(""))
            #expect(try await keys.keys().isEmpty)
        }
    }

    @Test("A confirmation that comes too late causes a Timeout, and no key is left")
    func userTimeoutRemovesKey() async throws {
        try await TemporaryDirectory.with { directory in
            let timer = ManualTimer()
            let keys = VaultDeviceKeys(try vault(directory), presence: Sleeper(timer: timer))
            var step = try self.step(["authenticationType": .string("APPLICATION_PIN")])
            try await step.answerDeviceBinding(with: binding(keys, timer: timer))
            #expect(step.callbacks[0].inputs["clientError"] == .string("Timeout"))
            #expect(try await keys.keys().isEmpty)
        }
    }

    /// A user who never answers; when asked, the time is up.
    private struct Sleeper: DevicePresence {
        let timer: ManualTimer
        let supported: Set<DeviceAuthenticationType> = [.applicationPIN]
        func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool {
            timer.fire()
            try await Task.sleep(for: .seconds(3600))
            return true
        }
    }

    @Test(
        "A key that is created after a timeout or a cancellation is removed", arguments: [true, false])
    func removesLateKey(isCancelled: Bool) async throws {
        try await TemporaryDirectory.with { directory in
            let timer = ManualTimer()
            let kept = VaultDeviceKeys(try vault(directory))
            let (made, makes) = AsyncStream<Void>.makeStream()
            let keys = OddKeys(kept: kept) {
                if isCancelled { makes.yield() } else { timer.fire() }
                // The wait ends when the task is canceled, and the function continues.
                try? await Task.sleep(for: .seconds(3600))
                return nil
            }
            let binding = try binding(keys, timer: timer)
            let request = try #require(try self.step().first(DeviceBindingCallback.self))
            let attempt = Task { try await binding.bind(request) }
            if isCancelled {
                for await _ in made { break }
                #expect(try await kept.keys().count == 1)
                attempt.cancel()
            }
            let outcome = await attempt.result
            let error = #expect(throws: (any Error).self) { try outcome.get() }
            #expect(isCancelled ? error is CancellationError : error as? DeviceClientError == .timeout)
            #expect(try await kept.keys().isEmpty)
        }
    }

    @Test(
        "A key whose first signature fails is removed, and the original error is reported",
        arguments: [nil, [UInt8](repeating: 1, count: 63)])
    func removesKeyAfterFailedSignature(signature: [UInt8]?) async throws {
        try await TemporaryDirectory.with { directory in
            let kept = VaultDeviceKeys(try vault(directory))
            let keys = OddKeys(kept: kept) {
                guard let signature else { throw DeviceClientError.abort }
                return signature
            }
            var step = try self.step()
            #expect(try await step.answerDeviceBinding(with: binding(keys)).key == nil)
            let clientError: DeviceClientError = signature == nil ? .abort : .clientDeviceErrors
            #expect(step.callbacks[0].inputs["clientError"] == .string(clientError.rawValue))
            #expect(try await kept.keys().isEmpty)
        }
    }

    /// Real keys whose signature is replaced.
    private struct OddKeys: DeviceBindingKeys {
        let kept: VaultDeviceKeys
        /// The signature; nil for the real one.
        let signature: @Sendable () async throws -> [UInt8]?
        func makeKey(for owner: DeviceKeyOwner, protection: DeviceAuthenticationType, at now: Date) async throws -> DeviceKey {
            try await kept.makeKey(for: owner, protection: protection, at: now)
        }
        func confirm(_ key: DeviceKey) async throws { try await kept.confirm(key) }
        func keys() async throws -> [DeviceKey] { try await kept.keys() }
        func sign(_ bytes: [UInt8], with key: DeviceKey) async throws -> [UInt8] {
            if let signature = try await signature() { return signature }
            return try await kept.sign(bytes, with: key)
        }
        func remove(_ key: DeviceKey) async throws { try await kept.remove(key) }
    }

    @Test("A key that the server has not confirmed does not take precedence over a confirmed one")
    func prefersConfirmedKey() async throws {
        try await TemporaryDirectory.with { directory in
            let keys = VaultDeviceKeys(try vault(directory))
            let binding = try binding(keys)
            func signer() async throws -> JSONValue? {
                var step = try self.step()
                #expect(try await step.answerDeviceSigning(with: binding) == nil)
                return try Signature(step.callbacks[1].inputs["jws"]?.string).header["kid"]
            }
            func make(_ second: Int) async throws -> DeviceKey {
                let time = Date(timeIntervalSince1970: Double(second))
                return try await keys.makeKey(for: owner("id=demo,ou=user,dc=am"), protection: .none, at: time)
            }
            let first = try await make(1)
            // The program ended before the server's response: there is no better key.
            #expect(try await signer() == .string(first.id))
            try await binding.confirm(first)
            #expect(try await keys.keys().map(\.isConfirmed) == [true])
            let second = try await make(2)
            #expect(try await signer() == .string(first.id))
            try await binding.confirm(second)
            #expect(try await signer() == .string(second.id))
            try await binding.discard(second)
            #expect(try await signer() == .string(first.id))
            try await binding.confirm(second)
            #expect(try await keys.keys().map(\.id) == [first.id])
        }
    }

    @Test("A key of another server or realm does not sign, even for the same user name")
    func keysBelongToServerAndRealm() async throws {
        try await TemporaryDirectory.with { directory in
            let keys = VaultDeviceKeys(try vault(directory))
            let elsewhere = "https://other.example.test/am"
            for owner in [owner("id=demo,ou=user,dc=am", server: elsewhere), owner("id=demo,ou=user,dc=am", realm: "alpha")] {
                try await keys.confirm(try await keys.makeKey(for: owner, protection: .none, at: Self.clock.now))
            }
            for user in ["id=demo,ou=user,dc=am", ""] {
                var step = try self.step(["userId": .string(user)])
                #expect(try await step.answerDeviceSigning(with: binding(keys))?.clientError == .clientNotRegistered)
                #expect(try await step.answerDeviceSigning(with: binding(keys, url: elsewhere)) == nil)
                #expect(try await step.answerDeviceSigning(with: binding(keys, realm: "alpha")) == nil)
            }
        }
    }

    @Test("The newest key of the user that the server names signs, or the key that the app chooses")
    func choosesSigningKey() async throws {
        try await TemporaryDirectory.with { directory in
            let keys = VaultDeviceKeys(try vault(directory))
            var made: [DeviceKey] = []
            for (index, user) in ["a", "b", "b"].enumerated() {
                let time = Date(timeIntervalSince1970: Double(index))
                made.append(try await keys.makeKey(for: owner(user), protection: .none, at: time))
            }
            func signer(_ user: String, choose: Int? = nil) async throws -> JSONValue? {
                var step = try self.step(["userId": .string(user)])
                let chosen = choose.map { made[$0] }
                let failure = try await step.answerDeviceSigning(with: binding(keys)) { choose == nil ? $0.last : chosen }
                #expect(failure == nil)
                return try Signature(step.callbacks[1].inputs["jws"]?.string).header["kid"]
            }
            #expect(try await signer("a") == .string(made[0].id))
            #expect(try await signer("b") == .string(made[2].id))
            #expect(try await signer("", choose: 0) == .string(made[0].id))
            try await keys.remove(made[2])
            try await keys.remove(made[2])
            #expect(try await signer("b") == .string(made[1].id))
            var step = try self.step(["userId": .string("")])
            let failure = try await step.answerDeviceSigning(with: binding(keys)) { _ in nil }
            #expect(failure?.clientError == .abort)
        }
    }

    @Test(
        "A custom claim with the name of a standard claim is refused",
        arguments: ["sub", "challenge", "exp", "iat", "nbf", "iss", "platform"])
    func refusesReservedClaims(name: String) async throws {
        var step = try self.step()
        await #expect(throws: CallbackError.self) {
            try await step.answerDeviceSigning(with: binding(BrokenKeys(error: nil)), claims: [name: .string("x")])
        }
        #expect(step == (try self.step()))
    }

    @Test("A damaged key record causes an error and is not overwritten")
    func reportsDamagedKeyRecord() async throws {
        try await TemporaryDirectory.with { directory in
            let vault = try vault(directory)
            let key = RecordKey(.item, "signet.device-keys")
            for bytes in [#"{"version":1,"keys":[{}]}"#, #"{"version":2,"keys":[{}]}"#, #"{"version":3,"keys":[]}"#, "junk"] {
                try vault.write { (records: any RecordWriter) throws(StoreError) in try records.put(Array(bytes.utf8), key) }
                let keys = VaultDeviceKeys(vault)
                await #expect(throws: StoreError.self) { try await keys.keys() }
                await #expect(throws: StoreError.self) {
                    try await keys.makeKey(for: owner("u"), protection: .none, at: Self.clock.now)
                }
                let left = try vault.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
                #expect(left == Array(bytes.utf8))
            }
        }
    }
}

@Suite("Device profiles")
struct DeviceProfileTests {
    private static let files = [
        "/proc/sys/kernel/ostype": "Linux\n",
        "/etc/os-release": "NAME=\"Debian\"\nPRETTY_NAME=\"Debian 12\"\nVERSION_ID=\"12\"\n",
        "/sys/class/dmi/id/product_name": "T14\n", "/sys/class/dmi/id/sys_vendor": "Lenovo\n",
        "/proc/sys/kernel/hostname": "laptop\n", "/proc/cpuinfo": "processor\t: 0\nprocessor\t: 1\n",
        "/proc/meminfo": "MemTotal:       16318480 kB\nMemFree: 1 kB\n", "/sys/class/net/eth0/operstate": "up\n",
    ]

    private func collector(_ files: [String: String], folders: [String: [String]] = [:], environment: [String: String] = [:])
        -> DeviceProfileCollector
    {
        DeviceProfileCollector(
            identifier: "id", environment: environment, file: { files[$0] }, folder: { folders[$0] })
    }

    @Test("A device profile is read from system files")
    func readsDeviceProfile() {
        let profile = collector(
            Self.files,
            folders: [
                "/sys/class": ["net", "video4linux"], "/sys/class/net": ["lo", "eth0"], "/sys/class/video4linux": ["video0"],
            ],
            environment: ["LANG": "de_CH.UTF-8", "TZ": "Europe/Zurich"]
        ).collect()
        #expect(
            profile.metadata == [
                "platform": .object([
                    "platform": .string("Linux"), "version": .string("12"), "device": .string("T14"),
                    "deviceName": .string("laptop"), "brand": .string("Debian 12"), "locale": .string("de_CH"),
                    "timeZone": .string("Europe/Zurich"),
                ]),
                "hardware": .object([
                    "cpu": .integer(2), "manufacturer": .string("Lenovo"), "memory": .integer(15_936),
                    "camera": .object(["numberOfCameras": .integer(1)]),
                ]),
                "network": .object(["connected": .bool(true)]), "bluetooth": .object(["supported": .bool(false)]),
            ])
    }

    @Test("Unavailable values and sections are omitted from a device profile")
    func omitsUnavailableValues() {
        #expect(collector([:]).collect().metadata == [:])
        let some = collector(["/proc/sys/kernel/ostype": "Linux\n"], folders: ["/sys/class": ["bluetooth"]]).collect()
        #expect(
            some.metadata == [
                "platform": .object(["platform": .string("Linux")]),
                "hardware": .object(["camera": .object(["numberOfCameras": .integer(0)])]),
            ])
    }

    @Test(
        "The network state is included only if the interfaces report it",
        arguments: [
            (["lo": "unknown\n"], false), (["lo": "unknown\n", "eth0": "down\n"], false),
            (["eth0": "up\n", "tun0": "unknown\n"], true),
            (["tun0": "unknown\n"], nil), (["eth0": nil], nil),
        ] as [([String: String?], Bool?)])
    func readsNetworkState(interfaces: [String: String?], isConnected: Bool?) {
        let files = Dictionary(
            uniqueKeysWithValues: interfaces.compactMap { name, state in state.map { ("/sys/class/net/\(name)/operstate", $0) } })
        let profile = collector(files, folders: ["/sys/class/net": Array(interfaces.keys)]).collect()
        let expected: JSONValue? = isConnected.map { .object(["connected": .bool($0)]) }
        #expect(profile.metadata["network"] == expected)
    }

    @Test("Only the requested sections are sent")
    func sendsRequestedSections() throws {
        var callback = try Recorded.first("DeviceProfileCallback")
        let profile = DeviceProfile(
            identifier: "id", metadata: ["x": .integer(1)], location: .init(latitude: 46.9, longitude: 7.4))
        func sent(metadata: Bool, location: Bool) throws -> JSONValue {
            callback.output[0].value = .bool(metadata)
            callback.output[1].value = .bool(location)
            var typed = try #require(DeviceProfileCallback(callback))
            typed.fill(profile)
            return try JSON.value(of: (typed.callback.inputs[""]?.string ?? "").utf8)
        }
        #expect(try sent(metadata: false, location: false) == .object(["identifier": .string("id")]))
        #expect(
            try sent(metadata: true, location: true)
                == .object([
                    "identifier": .string("id"), "metadata": .object(["x": .integer(1)]),
                    "location": .object(["latitude": .number(46.9), "longitude": .number(7.4)]),
                ]))
    }

    @Test(
        "This machine has a device profile",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/meminfo"), "requires Linux"))
    func readsProfileOfThisMachine() {
        let profile = DeviceProfileCollector(identifier: "id").collect()
        #expect(profile.metadata["hardware"]?["memory"]?.lenientInteger ?? 0 > 0)
    }
}
