#if os(Linux)
import Crypto
import Foundation
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

@Suite("The file of a secured key")
struct SecuredKeyFileTests {
    private static let plaintext = Array("the secret of Harbor Bank".utf8)

    /// Runs `body` with a TPM and an empty directory.
    private func withTPM(_ body: (SoftwareTPM, VaultDirectory) async throws -> Void) async throws {
        try await TemporaryDirectory.with { temporary in
            try await SoftwareTPM.with { tpm in
                try await body(tpm, VaultDirectory(path: temporary.file("home")))
            }
        }
    }

    // The TPM serves one connection at a time, and a key keeps its own: each of these ends with the key that it loaded.

    private func publicKey(
        _ tpm: SoftwareTPM, _ directory: VaultDirectory, tag: String = "test", pin: String? = nil, isNew: Bool = false
    ) throws(StoreError) -> [UInt8] {
        let hardware = HardwareKeys(tcti: tpm.tcti)
        let key =
            if let pin {
                try SecuredKey(tag: tag, pin: Secret(pin.utf8), isNew: isNew, in: directory, of: hardware)
            } else {
                try SecuredKey(tag: tag, in: directory, of: hardware)
            }
        return key.publicKey
    }

    private func open(
        _ sealed: [UInt8], _ tpm: SoftwareTPM, _ directory: VaultDirectory, pin: String?
    ) throws(StoreError) -> [UInt8] {
        let hardware = HardwareKeys(tcti: tpm.tcti)
        let key =
            if let pin {
                try SecuredKey(tag: "test", pin: Secret(pin.utf8), isNew: false, in: directory, of: hardware)
            } else {
                try SecuredKey(tag: "test", in: directory, of: hardware)
            }
        return try ECIES.open(sealed, with: key.key)
    }

    @Test(
        "A new key leaves the keys of all other tags, also of one that ends like the name of an unfinished file",
        .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"), arguments: [nil, "123456"])
    func keepsKeysOfOtherTags(pin: String?) async throws {
        try await withTPM { tpm, directory in
            let tags = ["test.new", "new", "key-test", "pin-key-test", "unfinished-secured-key-test"]
            let before = try tags.map { try publicKey(tpm, directory, tag: $0, pin: pin) }
            _ = try publicKey(tpm, directory)
            _ = try publicKey(tpm, directory, pin: "123456")
            _ = try publicKey(tpm, directory, pin: "777777", isNew: true)
            let after = try tags.map { try publicKey(tpm, directory, tag: $0, pin: pin) }
            #expect(after == before)
        }
    }

    @Test("A PIN's authorization has the documented value")
    func derivesAuthorization() {
        var expected = Array(SHA256.hash(data: Array("signet secured key pin 1".utf8) + [0, 0, 0, 4] + Array("test123456".utf8)))
        expected[31] |= 1
        let authorization = TPMPin(Secret("123456".utf8), tag: "test").authorization
        #expect(authorization == Secret(expected))
    }

    @Test("A new key that cannot be loaded is not stored, and the earlier key stays")
    func storesOnlyLoadedKey() async throws {
        try await TemporaryDirectory.with { temporary in
            let file = TPMKeyFile(directory: VaultDirectory(path: temporary.file("home")), tag: "test", needsPin: true)
            let (earlier, new) = (TPMKey(storageKey: [1], blob: [1, 1]), TPMKey(storageKey: [2], blob: [2, 2]))
            let cannotLoad = { (_: TPMKey) throws(StoreError) -> [UInt8] in throw StoreError(.busy, "load", "the TPM is busy") }
            let first = failure { () throws(StoreError) in try file.key(make: { new }, load: cannotLoad) }
            #expect(first?.code == .busy && !PrivateFile.exists(file.path))
            _ = try file.key(make: { earlier }, load: { $0.blob })
            let second = failure { () throws(StoreError) in try file.key(isNew: true, make: { new }, load: cannotLoad) }
            #expect(second?.code == .busy)
            let left = try file.key(make: { new }, load: { $0.blob })
            #expect(left.key == earlier && left.publicKey == earlier.blob)
            let replaced = try file.key(isNew: true, make: { new }, load: { $0.blob })
            #expect(replaced.key == new)
        }
    }

    @Test(
        "Enrolling a PIN while the TPM is locked fails, and the earlier key stays",
        .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"))
    func keepsKeyWhileLocked() async throws {
        try await withTPM { tpm, directory in
            let sealed = try ECIES.seal(Self.plaintext, to: publicKey(tpm, directory, pin: "123456"))
            _ = try await tpm.tool(
                "tpm2_dictionarylockout", "--setup-parameters", "--max-tries=1", "--recovery-time=1000",
                "--lockout-recovery-time=1000")
            let wrong = failure { () throws(StoreError) in try publicKey(tpm, directory, pin: "654321") }
            #expect(wrong?.code == .denied && wrong?.reason.contains("PIN is wrong") == true)
            let locked = failure { () throws(StoreError) in try publicKey(tpm, directory, pin: "777777", isNew: true) }
            #expect(locked?.code == .denied && locked?.reason.contains("locked") == true)
            _ = try await tpm.tool("tpm2_dictionarylockout", "--clear-lockout")
            let opened = try open(sealed, tpm, directory, pin: "123456")
            #expect(opened == Self.plaintext)
        }
    }

    @Test(
        "Wrong PINs that lock the TPM do not lock a key without a PIN, because its attribute noDA excludes it",
        .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"))
    func opensKeyWithoutPINWhileLocked() async throws {
        try await withTPM { tpm, directory in
            let sealed = try ECIES.seal(Self.plaintext, to: publicKey(tpm, directory))
            _ = try publicKey(tpm, directory, pin: "123456")
            _ = try await tpm.tool(
                "tpm2_dictionarylockout", "--setup-parameters", "--max-tries=1", "--recovery-time=1000",
                "--lockout-recovery-time=1000")
            let wrong = failure { () throws(StoreError) in try publicKey(tpm, directory, pin: "654321") }
            #expect(wrong?.code == .denied)
            let locked = failure { () throws(StoreError) in try publicKey(tpm, directory, pin: "123456") }
            #expect(locked?.code == .denied && locked?.reason.contains("locked") == true)
            let opened = try open(sealed, tpm, directory, pin: nil)
            #expect(opened == Self.plaintext)
        }
    }

    @Test(
        "Nothing is sealed to a key with another PIN that another process put into the file",
        .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"))
    func refusesSubstitutedPINKey() async throws {
        try await withTPM { tpm, directory in
            _ = try publicKey(tpm, directory, pin: "123456")
            let attacker = VaultDirectory(path: directory.path + "-of-attacker")
            _ = try publicKey(tpm, attacker, pin: "654321")
            let path = directory.path + "/secured-pin-key-test"
            let substituted = try PrivateFile.contents(of: attacker.path + "/secured-pin-key-test", limit: 8192)
            PrivateFile.remove(path)
            try PrivateFile.create(path, containing: substituted)
            let refusal = failure { () throws(StoreError) in try publicKey(tpm, directory, pin: "123456") }
            #expect(refusal?.code == .denied && refusal?.reason.contains("PIN is wrong") == true)
            let left = try PrivateFile.contents(of: path, limit: 8192)
            #expect(left == substituted)
        }
    }
}
#endif
