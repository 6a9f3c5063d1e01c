import Dispatch
import Foundation
import Security
import SignetCore
import SignetStorage

// The Apple engines against the stand-in for Security. scripts/check-apple builds and runs it: as a program, since in a test
// target the stand-in's name would be visible to the whole package. It prints one line for each failed check, and exits with 1.

@main
enum Checks {
    static func main() async {
        var failures: [String] = []
        var count = 0
        for check in keychainChecks + conformanceChecks + statusChecks + enclaveChecks + appKeychainChecks + requirementChecks {
            count += 1
            StandInKeychain.reset()
            do {
                try await check.run()
            } catch {
                failures.append("\(check.name): \(error)")
            }
        }
        let summary = "check-apple: \(count) checks, \(failures.count) failed"
        FileHandle.standardOutput.write(Data(((failures + [summary]).joined(separator: "\n") + "\n").utf8))
        exit(failures.isEmpty ? 0 : 1)
    }
}

/// One named check.
struct Check: Sendable {
    let name: String
    let run: @Sendable () async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.run = run
    }
}

/// An expectation that does not hold.
struct CheckFailure: Error, CustomStringConvertible {
    let description: String
}

func expect(_ isTrue: Bool, _ fact: @autoclosure () -> String) throws(CheckFailure) {
    guard isTrue else { throw CheckFailure(description: fact()) }
}

/// Expects `body` to fail with this code, and with the status if there is one.
func expect(_ code: StoreError.Code, _ status: OSStatus? = nil, _ body: () throws -> Void) throws {
    do {
        try body()
    } catch let error as StoreError {
        try expect(error.code == code, "\(error.code) instead of \(code)")
        return try expect(status == nil || error.platformStatus == status, "status \(String(describing: error.platformStatus))")
    }
    throw CheckFailure(description: "no failure where \(code) should be")
}

let store = KeychainStore(service: "signet.check")

/// Every conformance case of a record store, in the keychain and in a vault in the keychain.
let conformanceChecks: [Check] = RecordStoreConformance.cases.flatMap { promise in
    [
        Check("KeychainStore \(promise.name)") { try await promise.check(store) },
        Check("A vault in a KeychainStore \(promise.name)") {
            try await promise.check(Vault.create(in: store, protector: SecureEnclaveProtector()))
        },
    ]
}
