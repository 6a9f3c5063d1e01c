#if os(Linux)
import Foundation
import SignetCore
import SignetJourney
import SignetOAuth
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("The place of a device key")
struct DeviceKeyPlaceTests {
    private static let now = Date(timeIntervalSince1970: 1_735_689_600)
    private static let owner = DeviceKeyOwner(
        server: "https://am.example.test/am", realm: .root, userID: "id=demo,ou=user,dc=am", username: "demo")
    private static let record = RecordKey(.item, "signet.device-keys")
    private static let noTPM = SigningKeyProvider(HardwareKeys(tcti: "device:/dev/signet-has-no-such-tpm"))

    /// A record of version 1 as earlier versions wrote it, with a key whose private half is 1.
    private static let versionOne = """
        {"keys":[{"authenticationType":"NONE","confirmed":true,"createdAt":1735689600,"id":"k-1","realm":"/",\
        "scalar":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE","server":"https://am.example.test/am",\
        "userID":"id=demo,ou=user,dc=am","username":"demo"}],"version":1}
        """

    private func withVault(_ body: (Vault) async throws -> Void) async throws {
        try await TemporaryDirectory.with { directory in
            try await body(try Vault.create(in: MemoryStore(), protector: KeyFile.create(path: directory.file("key"))))
        }
    }

    private func bytes(_ vault: Vault) throws -> [UInt8]? {
        try vault.read { (records: any RecordReader) throws(StoreError) in try records.record(Self.record) }
    }

    private func store(_ text: String, in vault: Vault) throws {
        try vault.write { (records: any RecordWriter) throws(StoreError) in try records.put(Array(text.utf8), Self.record) }
    }

    private func stored(_ vault: Vault) throws -> JSONValue {
        try JSON.value(of: bytes(vault) ?? [])
    }

    private func isSigned(by keys: VaultDeviceKeys, _ key: DeviceKey) async throws -> Bool {
        let signature = try await keys.sign([1, 2, 3], with: key)
        return ES256PublicKey(x963: key.publicKey)?.isValid(signature, of: [1, 2, 3]) ?? false
    }

    @Test("A record of version 1 opens, its key signs, and a further key in software keeps the version")
    func opensVersionOne() async throws {
        try await withVault { vault in
            try store(Self.versionOne, in: vault)
            let keys = VaultDeviceKeys(vault, provider: Self.noTPM)
            let all = try await keys.keys()
            let key = try #require(all.first)
            #expect(key.id == "k-1" && key.owner == Self.owner && key.isConfirmed && key.level == .software)
            let isSigned = try await isSigned(by: keys, key)
            #expect(isSigned)
            let before = try JSON.value(of: Self.versionOne.utf8)
            let second = try await keys.makeKey(for: Self.owner, protection: .none, at: Self.now)
            #expect(second.level == .software)
            let after = try stored(vault)
            #expect(after["version"] == .integer(1))
            #expect(after["keys"]?.array?.first == before["keys"]?.array?.first)
            #expect(after["keys"]?.array?.last?["scalar"] != nil)
        }
    }

    @Test("A required key in hardware is not created on a machine without a TPM, and nothing is stored")
    func requiresHardwareForDeviceKey() async throws {
        try await withVault { vault in
            let keys = VaultDeviceKeys(vault, place: .hardware, provider: Self.noTPM)
            let error = await #expect(throws: StoreError.self) {
                try await keys.makeKey(for: Self.owner, protection: .none, at: Self.now)
            }
            #expect(error?.code == .keyUnavailable)
            let record = try bytes(vault)
            #expect(record == nil)
        }
    }

    @Test("A record of a newer version is reported as one, and is not changed")
    func reportsNewerDeviceKeys() async throws {
        try await withVault { vault in
            let text = #"{"keys":[],"version":3}"#
            try store(text, in: vault)
            let error = await #expect(throws: StoreError.self) { try await VaultDeviceKeys(vault).keys() }
            #expect(error?.code == .newerFormat)
            let left = try bytes(vault)
            #expect(left == Array(text.utf8))
        }
    }

    private static let missing = SoftwareTPM.missing() ?? ""

    @Test(
        "A device key is created in the TPM, whose reference only the vault has, and signs there",
        .enabled(if: missing.isEmpty, "\(missing)"))
    func bindsKeyInTPM() async throws {
        try await SoftwareTPM.with { tpm in
            try await withVault { vault in
                try store(Self.versionOne, in: vault)
                let keys = VaultDeviceKeys(vault, provider: SigningKeyProvider(HardwareKeys(tcti: tpm.tcti)))
                let key = try await keys.makeKey(for: Self.owner, protection: .none, at: Self.now)
                #expect(key.level == .hardware)
                let record = try stored(vault)
                #expect(record["version"] == .integer(2))
                let entry = try #require(record["keys"]?.array?.last)
                #expect(entry["scalar"] == nil && entry["reference"] != nil && entry["releasedByHardware"] == .bool(false))
                try await keys.confirm(key)
                let all = try await VaultDeviceKeys(vault, provider: Self.noTPM).keys()
                #expect(all.map(\.level) == [.software, .hardware] && all.allSatisfy(\.isConfirmed))
                for key in all {
                    let isSigned = try await isSigned(by: keys, key)
                    #expect(isSigned)
                }
                try await keys.remove(key)
                let left = try stored(vault)
                #expect(left["version"] == .integer(1))
            }
        }
    }

    @Test(
        "A key in the TPM that needs the user's consent signs only with it",
        .enabled(if: missing.isEmpty, "\(missing)"), arguments: [true, false])
    func asksForKeyInTPM(agrees: Bool) async throws {
        try await SoftwareTPM.with { tpm in
            try await withVault { vault in
                let provider = SigningKeyProvider(HardwareKeys(tcti: tpm.tcti))
                let unasked = VaultDeviceKeys(vault, provider: provider)
                await #expect(throws: DeviceClientError.unsupported) {
                    try await unasked.makeKey(for: Self.owner, protection: .biometricOnly, at: Self.now)
                }
                let asked = VaultDeviceKeys(vault, presence: Consent(agrees: true), provider: provider)
                let key = try await asked.makeKey(for: Self.owner, protection: .biometricOnly, at: Self.now)
                #expect(key.level == .hardware)
                let later = VaultDeviceKeys(vault, presence: Consent(agrees: agrees), provider: provider)
                if agrees {
                    let isSigned = try await isSigned(by: later, key)
                    #expect(isSigned)
                } else {
                    await #expect(throws: DeviceClientError.abort) { try await later.sign([1], with: key) }
                }
            }
        }
    }

    private struct Consent: DevicePresence {
        let agrees: Bool
        let supported: Set<DeviceAuthenticationType> = [.biometricOnly]
        func confirm(_ type: DeviceAuthenticationType, username: String) async throws -> Bool { agrees }
    }

    @Test(
        "A key of a TPM that was cleared is not registered any more; one of a TPM that is off is an error with its cause",
        .enabled(if: missing.isEmpty, "\(missing)"))
    func reportsLostDeviceKey() async throws {
        try await SoftwareTPM.with { tpm in
            try await withVault { vault in
                let keys = VaultDeviceKeys(vault, provider: SigningKeyProvider(HardwareKeys(tcti: tpm.tcti)))
                let key = try await keys.makeKey(for: Self.owner, protection: .none, at: Self.now)
                await tpm.stop()
                let error = await #expect(throws: StoreError.self) { try await keys.sign([1], with: key) }
                #expect(error?.code == .keyUnavailable)
                try await tpm.start()
                let isSigned = try await isSigned(by: keys, key)
                #expect(isSigned)
                try await tpm.clear()
                await #expect(throws: DeviceClientError.clientNotRegistered) { try await keys.sign([1], with: key) }
                let left = try await keys.keys()
                #expect(left == [key])
            }
        }
    }
}
#endif
