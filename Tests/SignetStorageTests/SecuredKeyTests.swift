#if os(Linux)
import Foundation
import Glibc
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

@Suite("A secured key in a TPM", .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"))
struct SecuredKeyTests {
    private let plaintext = Data("the secret of Harbor Bank".utf8)

    /// Runs `body` with a TPM and an empty directory.
    private func withTPM(_ body: (SoftwareTPM, VaultDirectory) async throws -> Void) async throws {
        try await TemporaryDirectory.with { temporary in
            try await SoftwareTPM.with { tpm in
                try await body(tpm, VaultDirectory(path: temporary.file("home")))
            }
        }
    }

    private func key(_ tpm: SoftwareTPM, _ directory: VaultDirectory, tag: String = "test") throws(StoreError) -> SecuredKey {
        try SecuredKey(tag: tag, in: directory, of: HardwareKeys(tcti: tpm.tcti))
    }

    @Test("A secured key opens what was sealed to it; sealing does not use the TPM, opening uses it once")
    func securedKeyOpens() async throws {
        try await withTPM { tpm, directory in
            let key = try key(tpm, directory)
            let inTPM = try #require(key.key as? TPMAgreementKey)
            let encryptor = SecuredKeyEncryptor(key)
            for round in 1...5 {
                let sealed = try await encryptor.encrypt(data: plaintext)
                #expect(sealed.count == plaintext.count + 81)
                #expect(inTPM.privateKeyOperations == round - 1)
                let opened = try await encryptor.decrypt(data: sealed)
                #expect(opened == plaintext)
                #expect(inTPM.privateKeyOperations == round)
            }
        }
    }

    @Test("A secured key is the same the next time, and uses no TPM memory while idle")
    func securedKeyPersists() async throws {
        try await withTPM { tpm, directory in
            let first = try key(tpm, directory).publicKey
            let sealed = Data(try ECIES.seal(Array(plaintext), to: first))
            try await tpm.restart()
            let opened = try await SecuredKeyEncryptor(key(tpm, directory)).decrypt(data: sealed)
            #expect(opened == plaintext)
            let other = try key(tpm, directory, tag: "other").publicKey
            #expect(other != first)
            let inUse = try await tpm.handlesInUse()
            #expect(inUse.isEmpty)
        }
    }

    @Test("A secured key is loaded again after a restart of the TPM")
    func securedKeySurvivesTPMRestart() async throws {
        try await withTPM { tpm, directory in
            let encryptor = SecuredKeyEncryptor(try key(tpm, directory))
            let sealed = try await encryptor.encrypt(data: plaintext)
            for _ in 0..<3 {
                try await tpm.restart()
                let opened = try await encryptor.decrypt(data: sealed)
                #expect(opened == plaintext)
            }
        }
    }

    @Test("A secured key is unavailable while the TPM is off, and works again afterwards")
    func securedKeyNeedsTPM() async throws {
        try await withTPM { tpm, directory in
            let encryptor = SecuredKeyEncryptor(try key(tpm, directory))
            let sealed = try await encryptor.encrypt(data: plaintext)
            await tpm.stop()
            await #expect { _ = try await encryptor.decrypt(data: sealed) } throws: {
                ($0 as? StoreError)?.code == .keyUnavailable
            }
            try await tpm.start()
            let opened = try await encryptor.decrypt(data: sealed)
            #expect(opened == plaintext)
        }
    }

    @Test("A secured key opens the previous layout too")
    func securedKeyOpensPreviousLayout() async throws {
        try await withTPM { tpm, directory in
            let key = try key(tpm, directory)
            let sealed = try LegacyECIES.seal(Array(plaintext), to: key.publicKey)
            let opened = try await SecuredKeyEncryptor(key).decrypt(data: Data(sealed))
            #expect(opened == plaintext)
        }
    }

    @Test("A secured key refuses a point off the curve, even when only the TPM checks it")
    func securedKeyRefusesPointOffCurve() async throws {
        try await withTPM { tpm, directory in
            let key = try key(tpm, directory)
            var sealed = Array(try await SecuredKeyEncryptor(key).encrypt(data: plaintext))
            sealed[64] ^= 1
            let error = failure { () throws(StoreError) in try ECIES.open(sealed, with: key.key) }
            #expect(error?.code == .corrupt)
            #expect((key.key as? TPMAgreementKey)?.privateKeyOperations == 0)
            for point in [Array(sealed.prefix(65)), Array(sealed.prefix(64)), [], [UInt8](repeating: 0, count: 65)] {
                let pointError = failure { () throws(StoreError) in try key.key.agree(with: point) }
                #expect(pointError?.code == .corrupt)
            }
        }
    }

    private func pinKey(
        _ tpm: SoftwareTPM, _ directory: VaultDirectory, _ pin: String, isNew: Bool = false
    ) throws(StoreError) -> SecuredKey {
        try SecuredKey(tag: "test", pin: Secret(pin.utf8), isNew: isNew, in: directory, of: HardwareKeys(tcti: tpm.tcti))
    }

    // The TPM serves one connection at a time, and a key keeps its own: each of these ends with the key that it loaded.

    private func publicKey(
        _ tpm: SoftwareTPM, _ directory: VaultDirectory, _ pin: String, isNew: Bool = false
    ) throws(StoreError) -> [UInt8] {
        let key = try pinKey(tpm, directory, pin, isNew: isNew)
        return key.publicKey
    }

    private func open(
        _ sealed: [UInt8], _ tpm: SoftwareTPM, _ directory: VaultDirectory, _ pin: String
    ) throws(StoreError) -> [UInt8] {
        let key = try pinKey(tpm, directory, pin)
        return try ECIES.open(sealed, with: key.key)
    }

    @Test("The user's PIN releases a secured key, also after a restart, and a wrong one does not")
    func pinReleasesSecuredKey() async throws {
        try await withTPM { tpm, directory in
            let key = try publicKey(tpm, directory, "123456")
            let sealed = try ECIES.seal(Array(plaintext), to: key)
            let opened = try open(sealed, tpm, directory, "123456")
            #expect(Data(opened) == plaintext)
            try await tpm.restart()
            let again = try open(sealed, tpm, directory, "123456")
            #expect(Data(again) == plaintext)
            // A wrong PIN is refused when the key is loaded, before anything is sealed or opened.
            let refusal = failure { () throws(StoreError) in try publicKey(tpm, directory, "654321") }
            #expect(refusal?.code == .denied && refusal?.reason.contains("PIN is wrong") == true)
        }
    }

    @Test("A key with a PIN and one without have the same tag and nothing else in common")
    func separatesPinFromTag() async throws {
        try await withTPM { tpm, directory in
            let free = try { () throws(StoreError) in try key(tpm, directory).publicKey }()
            let released = try publicKey(tpm, directory, "123456")
            #expect(free != released)
            let (file, pinFile) = (directory.path + "/secured-key-test", directory.path + "/secured-pin-key-test")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            #expect(names == ["secured-key-test", "secured-pin-key-test"])
            // The file of one in place of the other's is refused.
            try FileManager.default.removeItem(atPath: pinFile)
            try FileManager.default.copyItem(atPath: file, toPath: pinFile)
            let otherKind = failure { () throws(StoreError) in try publicKey(tpm, directory, "123456") }
            let empty = failure { () throws(StoreError) in try publicKey(tpm, directory, "") }
            #expect(otherKind?.code == .corrupt && empty?.code == .invalid)
        }
    }

    @Test("Keys that a fingerprint releases are not offered on Linux")
    func refusesBiometry() {
        let calls: [() throws -> SecuredKey] = [
            { try SecuredKey(biometryTag: "app") }, { try SecuredKey.enrollBiometry(tag: "app") },
        ]
        for call in calls {
            let error = #expect(throws: StoreError.self, performing: call)
            #expect(error?.code == .keyUnavailable)
        }
    }

    @Test("Enrolling a new PIN replaces the key: what was sealed before cannot be opened with either PIN")
    func enrollingPinInvalidatesKey() async throws {
        try await withTPM { tpm, directory in
            let before = try publicKey(tpm, directory, "123456")
            let sealed = try ECIES.seal(Array(plaintext), to: before)
            let after = try publicKey(tpm, directory, "777777", isNew: true)
            #expect(after != before)
            let withNewPin = failure { () throws(StoreError) in try open(sealed, tpm, directory, "777777") }
            #expect(withNewPin?.code == .corrupt)
            // The earlier PIN does not release the new key.
            let fresh = try ECIES.seal(Array(plaintext), to: after)
            let withOldPin = failure { () throws(StoreError) in try publicKey(tpm, directory, "123456") }
            #expect(withOldPin?.code == .denied)
            let opened = try open(fresh, tpm, directory, "777777")
            #expect(Data(opened) == plaintext)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names == ["secured-pin-key-test"])
        }
    }

    @Test("A secured key is one file of mode 0600")
    func securedKeyIsOnePrivateFile() async throws {
        try await withTPM { tpm, directory in
            _ = try key(tpm, directory)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names == ["secured-key-test"])
            var status = stat()
            #expect(lstat(directory.path + "/secured-key-test", &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
        }
    }

    @Test("A secured key of another TPM is refused, and its file is unchanged")
    func refusesSecuredKeyOfAnotherTPM() async throws {
        try await withTPM { tpm, directory in
            _ = try key(tpm, directory)
            let path = directory.path + "/secured-key-test"
            let before = try Data(contentsOf: URL(filePath: path))
            try await SoftwareTPM.with { other in
                let otherError = failure { () throws(StoreError) in try key(other, directory) }
                #expect(otherError?.code == .keyMismatch)
            }
            try await tpm.clear()
            let clearedError = failure { () throws(StoreError) in try key(tpm, directory) }
            #expect(clearedError?.code == .keyMismatch)
            let after = try Data(contentsOf: URL(filePath: path))
            #expect(after == before)
        }
    }

    @Test("A secured key file damaged at any position is refused, and no new key is made")
    func refusesDamagedSecuredKey() async throws {
        try await withTPM { tpm, directory in
            _ = try key(tpm, directory)
            let path = directory.path + "/secured-key-test"
            let good = try PrivateFile.contents(of: path, limit: 8192)
            for position in good.indices {
                var bytes = good
                bytes[position] ^= 1 << (position % 8)
                try Data(bytes).write(to: URL(filePath: path))
                let error = failure { () throws(StoreError) in try key(tpm, directory) }
                let codes: [StoreError.Code?] = [.corrupt, .keyMismatch, .newerFormat]
                #expect(codes.contains(error?.code), "position \(position): \(String(describing: error))")
                let left = try PrivateFile.contents(of: path, limit: 8192)
                #expect(left == bytes)
            }
            for count in stride(from: 0, to: good.count, by: 7) {
                try Data(good.prefix(count)).write(to: URL(filePath: path))
                let error = failure { () throws(StoreError) in try key(tpm, directory) }
                #expect(error?.code == .corrupt, "\(count) bytes")
            }
        }
    }

    @Test(
        "A secured key file that cannot be read is not treated as missing",
        arguments: ["directory", "link", "readable by others", "open home"])
    func refusesUnreadableSecuredKey(what: String) async throws {
        try await withTPM { tpm, directory in
            let path = directory.path + "/secured-key-test"
            try PrivateFile.createDirectory(directory.path)
            switch what {
            case "directory": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
            case "readable by others":
                try PrivateFile.create(path, containing: [1])
                chmod(path, 0o644)
            default: chmod(directory.path, 0o755)
            }
            let error = failure { () throws(StoreError) in try key(tpm, directory) }
            #expect(error != nil)
            #expect(error?.code != .noVault)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names == (what == "open home" ? [] : ["secured-key-test"]))
            let inUse = try await tpm.handlesInUse()
            #expect(inUse.isEmpty)
        }
    }

    @Test(
        "An invalid tag of a secured key, such as a path, is refused",
        arguments: ["", "../x", "a/b", "a\0b", "ä", String(repeating: "a", count: 129)])
    func refusesSecuredKeyTagPath(tag: String) {
        let hardware = HardwareKeys(tcti: "swtpm:host=127.0.0.1,port=1")
        let error = failure { () throws(StoreError) in
            try SecuredKey(tag: tag, in: VaultDirectory(path: "/nonexistent"), of: hardware)
        }
        #expect(error?.code == .failed)
    }

    #if compiler(>=6.3)
    /// Runs in a process of its own, where no other test occupies the few threads of the pool.
    @Test("A slow TPM does not block other tasks of a secured key's process")
    func securedKeyBlocksNoTask() async throws {
        try await withTPM { tpm, directory in
            let (tcti, home, device) = (tpm.tcti, directory.path, try #require(await tpm.processIdentifier))
            await #expect(processExitsWith: .success) {
                [tcti = tcti as String, home = home as String, device = device as Int32] in
                let key = try SecuredKey(tag: "test", in: VaultDirectory(path: home), of: HardwareKeys(tcti: tcti))
                let encryptor = SecuredKeyEncryptor(key)
                let sealed = try await encryptor.encrypt(data: Data([1, 2, 3]))
                // If they block the pool, no task in it lets the TPM go on.
                let help = DispatchWorkItem { _exit(1) }
                DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: help)
                kill(device, SIGSTOP)
                let count = 4 * ProcessInfo.processInfo.activeProcessorCount
                let opened = try await withThrowingTaskGroup(of: Data.self) { group in
                    for _ in 0..<count { group.addTask { try await encryptor.decrypt(data: sealed) } }
                    for _ in 0..<1000 { try await Task.sleep(for: .milliseconds(1)) }
                    kill(device, SIGCONT)
                    return try await group.reduce(into: [Data]()) { $0.append($1) }
                }
                #expect(opened == Array(repeating: Data([1, 2, 3]), count: count))
            }
        }
    }
    #endif
}
#endif
