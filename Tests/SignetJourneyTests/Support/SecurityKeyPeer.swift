import Crypto
import CryptoExtras
import Dispatch
import Foundation
import SignetCore

@testable import SignetJourney
@testable import SignetServer

/// A security key in software, which speaks CTAP 2.0 in the reports of CTAPHID (CTAP 2.1 sections 6 and 11.2).
///
/// It is the other side of libfido2 in the tests; it uses the writer of CBOR and the keys of ``VaultPasskeys``. It has passkeys for
/// ES256, or for EdDSA, and optionally a PIN (PIN/UV auth protocol one, section 6.5.6).
final class SecurityKeyPeer: SecurityKeyChannel {
    /// The behavior of the user of the key.
    enum Touch: Sendable {
        /// The user touches the key.
        case given
        /// The user does not touch it, and the key gives up.
        case timedOut
        /// The user does not touch it, and the key waits until it is told to stop.
        case missing
    }

    private struct Credential {
        let id: [UInt8]
        let relyingPartyID: String
        let userID: [UInt8]
        let userName: String
        let key: PasskeyKey
        var count: UInt32 = 0
    }

    private struct State {
        var reports: [[UInt8]] = []
        var command: UInt8 = 0
        var length = 0
        var message: [UInt8] = []
        var credentials: [Credential] = []
        var attempts = 8
        /// The signatures that the host has not asked for yet.
        var left: [[UInt8]] = []
        var commands: [UInt8] = []
        /// Called when the key begins to wait for a touch that does not come.
        var waits: (@Sendable () -> Void)?
    }

    private let algorithm: PasskeyAlgorithm
    private let pin: String?
    private let verifiesUser: Bool
    private let touch: Touch
    private let agreementKey = P256.KeyAgreement.PrivateKey()
    private let token = Secret.random(byteCount: 32).bytes
    private let state = Mutex(State())
    private let isReady = DispatchSemaphore(value: 0)

    /// The model of the key.
    static let aaguid = [UInt8](repeating: 0x11, count: 16)
    private static let channelID: [UInt8] = [0, 0, 0, 1]

    init(
        _ algorithm: PasskeyAlgorithm = .es256, pin: String? = nil, verifiesUser: Bool = false, touch: Touch = .given,
        whenWaiting waits: (@Sendable () -> Void)? = nil
    ) {
        self.algorithm = algorithm
        self.pin = pin
        self.verifiesUser = verifiesUser
        self.touch = touch
        state.withLock { $0.waits = waits }
    }

    /// The CTAP2 commands that the key got.
    var commands: [UInt8] { state.withLock { $0.commands } }
    /// The number of attempts for the PIN that are left.
    var attempts: Int { state.withLock { $0.attempts } }

    /// The passkey's public key, as a COSE key that the server reads.
    func publicKey(of id: [UInt8]) -> DevicePublicKey? {
        let cose = state.withLock { state in state.credentials.first { $0.id == id }?.key.publicKey }
        guard let cose else { return nil }
        var rest = cose[...]
        return CBOR.read(&rest).flatMap { DevicePublicKey(cose: $0) }
    }

    // MARK: CTAPHID

    func read(within milliseconds: Int?) -> [UInt8]? {
        let end: DispatchTime = milliseconds.map { .now() + .milliseconds($0) } ?? .distantFuture
        guard isReady.wait(timeout: end) == .success else { return nil }
        return state.withLock { $0.reports.isEmpty ? nil : $0.reports.removeFirst() }
    }

    func write(_ report: [UInt8]) -> Bool {
        guard report.count == 64 else { return false }
        let received = state.withLock { state -> (command: UInt8, message: [UInt8])? in
            if report[4] & 0x80 != 0 {
                state.command = report[4] & 0x7F
                state.length = Int(report[5]) << 8 | Int(report[6])
                state.message = Array(report[7...])
            } else {
                state.message += report[5...]
            }
            guard state.message.count >= state.length else { return nil }
            return (state.command, Array(state.message.prefix(state.length)))
        }
        guard let received else { return true }
        switch received.command {
        // CTAPHID_INIT: the nonce, the channel, version 2, and the capabilities CBOR and NMSG.
        case 0x06: send(received.message + Self.channelID + [2, 1, 0, 0, 0x0C], as: 0x06, on: Array(report.prefix(4)))
        case 0x10: answer(received.message)
        // CTAPHID_CANCEL ends the operation with CTAP2_ERR_KEEPALIVE_CANCEL.
        case 0x11: send([0x2D], as: 0x10)
        default: return false
        }
        return true
    }

    private func send(_ message: [UInt8], as command: UInt8, on channel: [UInt8] = channelID) {
        var reports = [channel + [command | 0x80, UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message.prefix(57)]
        var rest = message.dropFirst(57)
        var sequence: UInt8 = 0
        while !rest.isEmpty {
            reports.append(channel + [sequence] + rest.prefix(59))
            rest = rest.dropFirst(59)
            sequence += 1
        }
        let padded = reports.map { $0 + [UInt8](repeating: 0, count: 64 - $0.count) }
        state.withLock { $0.reports += padded }
        for _ in padded { isReady.signal() }
    }

    // MARK: CTAP2

    /// The reason for which the key refuses a command.
    private struct Refusal: Error {
        let status: UInt8
    }

    private func answer(_ message: [UInt8]) {
        guard let command = message.first else { return send([0x03], as: 0x10) }
        state.withLock { $0.commands.append(command) }
        var rest = message.dropFirst()
        let parameters = CBOR.read(&rest) ?? .map([:])
        if command == 0x01 || command == 0x02 {
            // The status "user presence needed" of CTAPHID_KEEPALIVE.
            send([0x02], as: 0x3B)
            switch touch {
            case .given: break
            case .timedOut: return send([0x2F], as: 0x10)
            case .missing:
                let waits = state.withLock { $0.waits }
                waits?()
                return
            }
        }
        do {
            send([0x00] + (try response(to: command, parameters)), as: 0x10)
        } catch let refusal as Refusal {
            send([refusal.status], as: 0x10)
        } catch {
            send([0x7F], as: 0x10)
        }
    }

    private func response(to command: UInt8, _ parameters: CBOR) throws -> [UInt8] {
        switch command {
        case 0x01: try makeCredential(parameters)
        case 0x02: try getAssertion(parameters)
        case 0x04: information
        case 0x06: try clientPIN(parameters)
        case 0x08: try nextAssertion()
        default: throw Refusal(status: 0x01)
        }
    }

    private var information: [UInt8] {
        var map = CBORWriter()
        map.map(5)
        map.integer(1)
        map.encoded([0x81])
        map.text("FIDO_2_0")
        map.integer(3)
        map.byteString(Self.aaguid)
        map.integer(4)
        map.map(verifiesUser ? 3 : 2)
        map.text("rk")
        map.encoded([0xF5])
        if verifiesUser {
            map.text("uv")
            map.encoded([0xF5])
        }
        map.text("clientPin")
        map.encoded([pin == nil ? 0xF4 : 0xF5])
        map.integer(5)
        map.integer(1200)
        map.integer(6)
        map.encoded([0x81, 0x01])
        return map.bytes
    }

    /// Returns the flag of user verification for a command (section 6.5.6).
    private func verification(_ parameters: CBOR, hash: [UInt8], codeLabel: Int64, creates: Bool) throws -> Bool {
        if let code = parameters[.integer(codeLabel)]?.bytes {
            let expected = HMAC<SHA256>.authenticationCode(for: hash, using: SymmetricKey(data: token))
            guard Array(expected).prefix(16) == code[...] else { throw Refusal(status: 0x33) }
            return true
        }
        let options = parameters[.integer(creates ? 7 : 5)]
        if options?[.text("uv")] == .bool(true) {
            guard verifiesUser else { throw Refusal(status: 0x2B) }
            return true
        }
        if creates, pin != nil { throw Refusal(status: 0x36) }
        return false
    }

    private func makeCredential(_ parameters: CBOR) throws -> [UInt8] {
        guard let hash = parameters[.integer(1)]?.bytes, hash.count == 32,
            case .text(let party)? = parameters[.integer(2)]?[.text("id")],
            let userID = parameters[.integer(3)]?[.text("id")]?.bytes,
            case .text(let userName)? = parameters[.integer(3)]?[.text("name")],
            case .array(let algorithms)? = parameters[.integer(4)]
        else { throw Refusal(status: 0x14) }
        let isVerified = try verification(parameters, hash: hash, codeLabel: 8, creates: true)
        if case .array(let excluded)? = parameters[.integer(5)] {
            let ids = excluded.compactMap { $0[.text("id")]?.bytes }
            let isKnown = state.withLock { state in
                state.credentials.contains { $0.relyingPartyID == party && ids.contains($0.id) }
            }
            if isKnown { throw Refusal(status: 0x19) }
        }
        guard algorithms.contains(where: { $0[.text("alg")] == .integer(Int64(algorithm.rawValue)) }) else {
            throw Refusal(status: 0x26)
        }
        let made = Credential(
            id: Secret.random(byteCount: 16).bytes, relyingPartyID: party, userID: userID, userName: userName,
            key: PasskeyKey(algorithm))
        state.withLock { $0.credentials.append(made) }
        let attested = Self.aaguid + [0, UInt8(made.id.count)] + made.id + made.key.publicKey
        let data = Self.head(party, flags: 0x41 | (isVerified ? 4 : 0), count: 0) + attested
        var map = CBORWriter()
        map.map(3)
        map.integer(1)
        map.text("packed")
        map.integer(2)
        map.byteString(data)
        map.integer(3)
        map.map(2)
        map.text("alg")
        map.integer(algorithm.rawValue)
        map.text("sig")
        map.byteString(try made.key.signature(of: data + hash))
        return map.bytes
    }

    private func getAssertion(_ parameters: CBOR) throws -> [UInt8] {
        guard case .text(let party)? = parameters[.integer(1)], let hash = parameters[.integer(2)]?.bytes else {
            throw Refusal(status: 0x14)
        }
        let isVerified = try verification(parameters, hash: hash, codeLabel: 6, creates: false)
        var allowed: [[UInt8]]?
        if case .array(let listed)? = parameters[.integer(3)] { allowed = listed.compactMap { $0[.text("id")]?.bytes } }
        let matching = state.withLock { state in
            var matching: [Credential] = []
            for index in state.credentials.indices.reversed() where state.credentials[index].relyingPartyID == party {
                guard allowed?.contains(state.credentials[index].id) ?? true else { continue }
                state.credentials[index].count += 1
                matching.append(state.credentials[index])
            }
            return matching
        }
        guard !matching.isEmpty else { throw Refusal(status: 0x2E) }
        let isOpen = allowed == nil && matching.count > 1
        var answers = try matching.prefix(isOpen ? matching.count : 1).enumerated().map { index, credential in
            try Self.signed(credential, hash, isVerified: isVerified, total: isOpen && index == 0 ? matching.count : nil)
        }
        let first = answers.removeFirst()
        state.withLock { [answers] in $0.left = answers }
        return first
    }

    private func nextAssertion() throws -> [UInt8] {
        let next = state.withLock { $0.left.isEmpty ? nil : $0.left.removeFirst() }
        guard let next else { throw Refusal(status: 0x30) }
        return next
    }

    private static func signed(_ credential: Credential, _ hash: [UInt8], isVerified: Bool, total: Int?) throws -> [UInt8] {
        let data = head(credential.relyingPartyID, flags: 0x01 | (isVerified ? 4 : 0), count: credential.count)
        var map = CBORWriter()
        map.map(total == nil ? 4 : 5)
        map.integer(1)
        map.map(2)
        map.text("id")
        map.byteString(credential.id)
        map.text("type")
        map.text("public-key")
        map.integer(2)
        map.byteString(data)
        map.integer(3)
        map.byteString(try credential.key.signature(of: data + hash))
        map.integer(4)
        // The names of the user are reported only after the user was verified (section 6.2.2).
        map.map(isVerified ? 2 : 1)
        map.text("id")
        map.byteString(credential.userID)
        if isVerified {
            map.text("name")
            map.text(credential.userName)
        }
        if let total {
            map.integer(5)
            map.integer(total)
        }
        return map.bytes
    }

    private static func head(_ party: String, flags: UInt8, count: UInt32) -> [UInt8] {
        let count = (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * UInt32($0))) }
        return Array(SHA256.hash(data: Data(party.utf8))) + [flags] + count
    }

    // MARK: PIN

    private func clientPIN(_ parameters: CBOR) throws -> [UInt8] {
        guard let pin else { throw Refusal(status: 0x35) }
        var map = CBORWriter()
        map.map(1)
        switch parameters[.integer(2)] {
        case .integer(1):
            map.integer(3)
            map.integer(attempts)
        case .integer(2):
            let point = Array(agreementKey.publicKey.rawRepresentation)
            map.integer(1)
            map.map(5)
            for (label, value) in [(1, 2), (3, -25), (-1, 1)] {
                map.integer(label)
                map.integer(value)
            }
            map.integer(-2)
            map.byteString(point.prefix(32))
            map.integer(-3)
            map.byteString(point.suffix(32))
        case .integer(5):
            guard let key = parameters[.integer(3)], let x = key[.integer(-2)]?.bytes, let y = key[.integer(-3)]?.bytes,
                let encrypted = parameters[.integer(6)]?.bytes
            else { throw Refusal(status: 0x14) }
            let peer = try P256.KeyAgreement.PublicKey(rawRepresentation: x + y)
            let agreed = try agreementKey.sharedSecretFromKeyAgreement(with: peer)
            let shared = SymmetricKey(data: agreed.withUnsafeBytes { SHA256.hash(data: Data($0)) })
            let zeros = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16))
            let hash = Array(try AES._CBC.decrypt(encrypted, using: shared, iv: zeros, noPadding: true))
            guard hash[...] == Array(SHA256.hash(data: Data(pin.utf8))).prefix(16) else {
                state.withLock { $0.attempts -= 1 }
                throw Refusal(status: 0x31)
            }
            state.withLock { $0.attempts = 8 }
            map.integer(2)
            map.byteString(Array(try AES._CBC.encrypt(token, using: shared, iv: zeros, noPadding: true)))
        default: throw Refusal(status: 0x3E)
        }
        return map.bytes
    }
}
