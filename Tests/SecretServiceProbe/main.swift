// Uses the keyring of its environment's session bus once, and prints the outcome. libsecret finds the bus in the environment
// of the process, so each test of the keyring runs this as a process of its own, as real programs would.
//
//     SecretServiceProbe TIMEOUT-MS UNLOCK-MS|- COMMAND [ARGUMENT ...]
//
// Prints one line: `ok VALUE`, or `error CODE REASON`. Before it, `retry-unwrap` prints the line `opened`.

import Glibc
import SignetCore
import SignetStorage

func run(_ arguments: [String]) throws(StoreError) -> String {
    let protector = SecretServiceProtector(
        timeout: .milliseconds(Int(arguments[0]) ?? 0), unlockTimeout: Int(arguments[1]).map { .milliseconds($0) })
    let rest = Array(arguments.dropFirst(3))
    switch arguments[2] {
    case "availability": return text(protector.availability())
    case "owner": return try protector.owner().map { "\($0.processID) \($0.program ?? "-")" } ?? "nobody"
    case "wrap": return try Base64.encode(protector.wrap(Secret(bytes(rest[0])), context: bytes(rest[1])), as: .url)
    case "unwrap": return try Base64.encode(protector.unwrap(bytes(rest[0]), context: bytes(rest[1])).bytes, as: .url)
    case "epoch": return try protector.epoch(ofVault: rest[0]).map(String.init) ?? "none"
    case "remember":
        try protector.remember(epoch: UInt64(rest[1]) ?? 0, ofVault: rest[0])
        return "remembered"
    case "store-epochs": return try storeEpochs(protector, vault: rest[0], from: rest[1], by: rest[2], to: rest[3])
    case "retry-unwrap":
        return retryUnwrap(protector, wrapped: bytes(rest[0]), context: bytes(rest[1]), refusals: Int(rest[2]) ?? 0)
    case "credential": return try credential(rest[0])
    default: throw StoreError(.failed, "probe", "there is no command \(arguments[2])")
    }
}

func bytes(_ text: String) -> [UInt8] { (try? Base64.decode(text)) ?? [] }

func text(_ availability: KeyProtectorAvailability) -> String {
    switch availability {
    case .usable: "usable"
    case .unusable(let reason): "unusable \(reason)"
    }
}

/// Stores every epoch of a sequence, and goes on when another process was ahead.
func storeEpochs(
    _ protector: SecretServiceProtector, vault: String, from: String, by: String, to: String
) throws(StoreError) -> String {
    var refused = 0
    for epoch in stride(from: UInt64(from) ?? 0, through: UInt64(to) ?? 0, by: Int(by) ?? 1) {
        do throws(StoreError) {
            try protector.remember(epoch: epoch, ofVault: vault)
        } catch {
            guard error.code == .rolledBack else { throw error }
            refused += 1
        }
        // A stored epoch is never forgotten, whatever another process stores.
        guard let known = try protector.epoch(ofVault: vault), known >= epoch else {
            throw StoreError(.corrupt, "store-epochs", "epoch \(epoch) is forgotten")
        }
    }
    return "stored, refused \(refused)"
}

/// Opens repeatedly until a number of refusals, or up to a limit, and counts each outcome.
///
/// Prints the line `opened` after the first call that opens, so that a test knows when to change the keyring.
func retryUnwrap(_ protector: SecretServiceProtector, wrapped: [UInt8], context: [UInt8], refusals: Int) -> String {
    var outcomes: [String: Int] = [:]
    var left = refusals
    for _ in 0..<20_000 where left > 0 {
        let outcome: String
        do throws(StoreError) {
            _ = try protector.unwrap(wrapped, context: context)
            outcome = "opened"
        } catch {
            outcome = error.code.rawValue
            left -= 1
        }
        outcomes[outcome, default: 0] += 1
        if outcomes == ["opened": 1] {
            print("opened")
            fflush(nil)
        }
    }
    return outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
}

/// Seals and opens with a credential, as the user of this process.
func credential(_ directory: String) throws(StoreError) -> String {
    let protector = SystemdCredentialProtector(environment: ["CREDENTIALS_DIRECTORY": directory])
    let key = Secret([UInt8](repeating: 7, count: 32))
    let opened = try protector.unwrap(protector.wrap(key, context: [1]), context: [1])
    return opened == key ? "opened" : "another key"
}

do throws(StoreError) {
    print("ok", try run(Array(CommandLine.arguments.dropFirst())))
} catch {
    print("error", error.code.rawValue, error.reason)
}
