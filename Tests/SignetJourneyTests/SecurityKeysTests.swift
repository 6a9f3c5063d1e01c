#if os(Linux)
import Crypto
import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@testable import SignetJourney
@testable import SignetServer

private let isInstalled = (try? LibFIDO2.load()) != nil

@Suite("Security keys over libfido2", .enabled(if: isInstalled, "libfido2-1 is not installed"))
struct SecurityKeysTests {
    /// A user of a security key, who types the PINs one after the other.
    final class KeyUser: SecurityKeyUser {
        private struct State {
            var pins: ArraySlice<String>
            var asked: [Bool] = []
            var attempts: [Int?] = []
            var touches: [String] = []
        }

        private let state: Mutex<State>
        private let keyName: String?
        private let accountID: String?

        init(pins: [String] = [], chooses keyName: String? = nil, account accountID: String? = nil) {
            state = Mutex(State(pins: pins[...]))
            self.keyName = keyName
            self.accountID = accountID
        }

        /// True for each request for a PIN after a wrong one.
        var asked: [Bool] { state.withLock { $0.asked } }
        var attempts: [Int?] { state.withLock { $0.attempts } }
        var touches: [String] { state.withLock { $0.touches } }

        func choose(among keys: [SecurityKey]) async throws -> SecurityKey? { keys.first { $0.name == keyName } }

        func pin(of key: SecurityKey, attempts: Int?, isAgain: Bool) async throws -> Secret? {
            state.withLock { state in
                state.asked.append(isAgain)
                state.attempts.append(attempts)
                return state.pins.popFirst().map { Secret($0.utf8) }
            }
        }

        func touch(_ key: SecurityKey, for relyingPartyID: String) async {
            state.withLock { $0.touches.append(relyingPartyID) }
        }

        func choose(among accounts: [SecurityKeyAccount]) async throws -> SecurityKeyAccount? {
            accounts.first { $0.userID == accountID.map { Array($0.utf8) } }
        }
    }

    private func keys(
        _ peers: [SecurityKeyPeer], _ user: KeyUser = KeyUser(), origin: String = PasskeyRequest.origin,
        timer: any Clock<Duration> = ContinuousClock()
    ) throws -> SecurityKeys {
        let ports = peers.enumerated().map { SecurityKeyPort(SecurityKey(path: "test", name: "key \($0)"), channel: $1) }
        return SecurityKeys(origin: WebAuthnOrigin(try Endpoint(origin)), user: user, timer: timer) { ports }
    }

    private static func name<Value>(of body: () async throws -> Value) async -> WebAuthnError.Name? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? WebAuthnError)?.name
        }
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    /// Returns the members of an attestation object.
    private static func members(_ object: [UInt8]) throws -> (format: CBOR?, statement: CBOR?, data: [UInt8]) {
        var rest = object[...]
        let object = try #require(CBOR.read(&rest))
        return (object[.text("fmt")], object[.text("attStmt")], try #require(object[.text("authData")]?.bytes))
    }

    @Test("A security key creates a passkey and signs with it", arguments: PasskeyAlgorithm.allCases)
    func createsAndSigns(algorithm: PasskeyAlgorithm) async throws {
        let peer = SecurityKeyPeer(algorithm)
        let user = KeyUser()
        let keys = try keys([peer], user)
        let made = try await keys.register(PasskeyRequest.registration(algorithms: [-257, -8, -7]))
        #expect(made.attachment == "cross-platform" && made.credentialID.count == 16)
        let (format, statement, data) = try Self.members(made.attestationObject)
        #expect(format == .text("none") && statement == .map([:]))
        #expect(data[32] == 0x41 && Array(data[37..<53]) == [UInt8](repeating: 0, count: 16))
        let key = try #require(AuthenticatorData(data)?.credential?.key)
        #expect(key.algorithm == algorithm.name)

        let signed = try await keys.authenticate(PasskeyRequest.authentication(allowed: [made.credentialID]))
        #expect(signed.credentialID == made.credentialID && signed.authenticatorData[32] == 0x01)
        let bytes = signed.authenticatorData + Self.hash(signed.clientDataJSON)
        #expect(key.accepts(webAuthnSignature: signed.signature, of: bytes))
        #expect(user.touches == ["example.com", "example.com"] && user.asked.isEmpty)
    }

    @Test("The attestation of the key is passed on only when the server requests it", arguments: ["direct", "enterprise"])
    func passesAttestation(requested: String) async throws {
        let peer = SecurityKeyPeer()
        let made = try await keys([peer]).register(PasskeyRequest.registration(attestation: requested))
        let (format, statement, data) = try Self.members(made.attestationObject)
        #expect(format == .text("packed") && Array(data[37..<53]) == SecurityKeyPeer.aaguid)
        let signature = try #require(statement?[.text("sig")]?.bytes)
        let key = try #require(peer.publicKey(of: made.credentialID))
        #expect(key.accepts(webAuthnSignature: signature, of: data + Self.hash(made.clientDataJSON)))
    }

    @Test("A key with a PIN asks for it, again after a wrong one, and reports the verified user")
    func asksForPIN() async throws {
        let peer = SecurityKeyPeer(pin: "1234")
        let user = KeyUser(pins: ["9999", "1234", "1234"])
        let keys = try keys([peer], user)
        let made = try await keys.register(PasskeyRequest.registration())
        #expect(user.asked == [false, true] && user.attempts == [8, 7] && peer.attempts == 8)
        let (_, _, data) = try Self.members(made.attestationObject)
        #expect(data[32] == 0x45)
        let signed = try await keys.authenticate(PasskeyRequest.authentication(verification: .preferred))
        #expect(signed.authenticatorData[32] == 0x05 && signed.userHandle == Array("mira".utf8))
        let unverified = try await keys.authenticate(PasskeyRequest.authentication())
        #expect(unverified.authenticatorData[32] == 0x01 && user.asked.count == 3)
    }

    @Test("A user that gives no PIN creates no passkey")
    func needsPIN() async throws {
        let peer = SecurityKeyPeer(pin: "1234")
        let name = await Self.name { try await keys([peer]).register(PasskeyRequest.registration()) }
        #expect(name == .notAllowed && !peer.commands.contains(0x01))
    }

    @Test("A key that verifies the user itself is told to do so, and needs no PIN", arguments: UserVerification.allCases)
    func usesBuiltInVerification(requirement: UserVerification) async throws {
        let peer = SecurityKeyPeer(verifiesUser: true)
        let user = KeyUser()
        let made = try await keys([peer], user).register(PasskeyRequest.registration(verification: requirement))
        let (_, _, data) = try Self.members(made.attestationObject)
        #expect(data[32] == (requirement == .discouraged ? 0x41 : 0x45) && user.asked.isEmpty)
    }

    @Test("The user chooses the key and the account")
    func choosesKeyAndAccount() async throws {
        let (one, two) = (SecurityKeyPeer(), SecurityKeyPeer())
        for name in ["mira", "noa"] {
            _ = try await keys([one, two], KeyUser(chooses: "key 1")).register(PasskeyRequest.registration(userID: name))
        }
        #expect(one.commands.isEmpty)
        let signed = try await keys([two], KeyUser(account: "mira")).authenticate(PasskeyRequest.authentication())
        #expect(signed.userHandle == Array("mira".utf8))
        let names = [
            await Self.name { try await keys([one, two], KeyUser()).authenticate(PasskeyRequest.authentication()) },
            await Self.name { try await keys([two], KeyUser()).authenticate(PasskeyRequest.authentication()) },
        ]
        #expect(names == [.notAllowed, .notAllowed])
    }

    /// A request that is refused, and the error.
    struct Bad: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: WebAuthnError.Name
        var touch = SecurityKeyPeer.Touch.given
        var origin = PasskeyRequest.origin
        var algorithms = [-7]
        var attachment: String?
        var verification = UserVerification.discouraged
        var isConnected = true
    }

    @Test(
        "A registration that fails at the security key or before it has the error of the standard",
        arguments: [
            Bad(testDescription: "no touch", error: .timeout, touch: .timedOut),
            Bad(testDescription: "another domain", error: .security, origin: "https://example.org"),
            Bad(testDescription: "unknown algorithms", error: .notSupported, algorithms: [-35]),
            Bad(testDescription: "an algorithm that the key lacks", error: .notSupported, algorithms: [-8]),
            Bad(testDescription: "an authenticator of the device", error: .notAllowed, attachment: "platform"),
            Bad(testDescription: "no way to verify the user", error: .constraint, verification: .required),
            Bad(testDescription: "no key", error: .notAllowed, isConnected: false),
        ])
    func refusesBadRegistration(bad: Bad) async throws {
        let peers = bad.isConnected ? [SecurityKeyPeer(touch: bad.touch)] : []
        let keys = try keys(peers, origin: bad.origin)
        let request = try PasskeyRequest.registration(
            algorithms: bad.algorithms, verification: bad.verification, attachment: bad.attachment)
        let name = await Self.name { try await keys.register(request) }
        #expect(name == bad.error)
    }

    @Test("An excluded passkey, and a request without a passkey of the key, are refused by the key")
    func refusesKnownAndUnknown() async throws {
        let peer = SecurityKeyPeer()
        let keys = try keys([peer])
        let made = try await keys.register(PasskeyRequest.registration())
        let names = [
            await Self.name { try await keys.register(PasskeyRequest.registration(excluded: [made.credentialID])) },
            await Self.name { try await keys.authenticate(PasskeyRequest.authentication(allowed: [[1, 2, 3]])) },
        ]
        #expect(names == [.invalidState, .notAllowed])
    }

    @Test("A key that waits for a touch is told to stop when the time of the request is over")
    func stopsWaitingForTouch() async throws {
        let timer = ManualTimer()
        let peer = SecurityKeyPeer(touch: .missing) { timer.fire() }
        let keys = try keys([peer], timer: timer)
        let name = await Self.name { try await keys.register(PasskeyRequest.registration()) }
        #expect(name == .timeout)
    }

    @Test("A byte string of CBOR is unwrapped, and no other item", arguments: [0, 23, 24, 37, 255, 256, 300])
    func unwrapsByteString(count: Int) {
        var writer = CBORWriter()
        let content = [UInt8](repeating: 7, count: count)
        writer.byteString(content)
        #expect(OpenSecurityKey.content(ofByteString: writer.bytes) == content)
        #expect(OpenSecurityKey.content(ofByteString: writer.bytes + [0]) == nil)
        #expect(OpenSecurityKey.content(ofByteString: [0xA0]) == nil && OpenSecurityKey.content(ofByteString: []) == nil)
    }

    @Test("A security key registers at the development server and logs in there")
    func logsInAtServer() async throws {
        let configuration = ServerConfiguration { $0.users = [User(name: "demo", password: LiveServer.password)] }
        try await TestServer.live(configuration) { server in
            let profile = try ServerProfile(url: server.url)
            let journey = Journey(profile, transport: server.transport)
            let keys = try keys([SecurityKeyPeer()], origin: server.url)
            for name in ["WebAuthnRegistration", "WebAuthnLogin"] {
                var step = try await journey.start(name).step
                try step.fill(name: "demo", password: LiveServer.password)
                step = try await journey.next(step).step
                try await step.answerWebAuthn(with: keys)
                _ = try await journey.next(step).token
            }
        }
    }
}

@Suite("The libfido2 library")
struct FIDO2DeclarationTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)
    private static let hasHeaders =
        FileManager.default.fileExists(atPath: "/usr/include/fido.h") && Programs.missing(["cc"]).isEmpty

    @Test(
        "The headers of libfido2 have the prototypes, sizes and numbers that Signet repeats",
        .enabled(if: hasHeaders, "libfido2-dev or a C compiler is not installed"))
    func libfido2PrototypesMatch() async throws {
        let check = """
            cc -fsyntax-only -Wall -Werror -I"$1/Sources/CFIDO2/include" "$1/Tests/FIDO2Prototypes/prototypes.c"
            """
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let compiled = try await TestProcess.run("sh", ["-c", check, "sh", Self.package], environment: ["PATH": path])
        #expect(compiled.status == 0, "\(compiled.errors)")
    }
}
#endif
