#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

@Suite("A data key wrapped by a TPM", .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"))
struct TPMProtectorTests {
    private let dataKey = Secret.random(byteCount: 32)
    private let context = TPMSupport.context

    @Test("A data key wrapped by a TPM opens again with one operation of the private key")
    func tpmOpensWrappedKey() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let wrapped = try protector.wrap(dataKey, context: context)
            #expect(protector.privateKeyOperations == 0)
            let opened = try protector.unwrap(wrapped, context: context)
            #expect(opened == dataKey)
            #expect(protector.privateKeyOperations == 1)
        }
    }

    @Test("Every TPM slot has a key of its own")
    func tpmSlotsHaveOwnKeys() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let slots = [try protector.wrap(dataKey, context: context), try protector.wrap(dataKey, context: context)]
            let blobs = try slots.map { try TPMSlot($0).key.blob }
            #expect(blobs[0] != blobs[1])
        }
    }

    @Test("A data key wrapped by a TPM opens after the machine was switched off")
    func tpmKeySurvivesRestart() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let wrapped = try protector.wrap(dataKey, context: context)
            try await tpm.restart()
            let opened = try protector.unwrap(wrapped, context: context)
            #expect(opened == dataKey)
        }
    }

    @Test("A data key wrapped by a TPM does not open in another TPM")
    func anotherTPMDoesNotOpen() async throws {
        try await SoftwareTPM.with { tpm in
            let wrapped = try TPMProtector(tcti: tpm.tcti).wrap(dataKey, context: context)
            try await SoftwareTPM.with { other in
                let protector = TPMProtector(tcti: other.tcti)
                let error = failure { () throws(StoreError) in try protector.unwrap(wrapped, context: context) }
                #expect(error?.code == .keyMismatch)
                #expect(error?.reason.contains("another TPM") == true)
                #expect(protector.privateKeyOperations == 0)
            }
        }
    }

    @Test("A data key is reported as lost when the TPM is cleared, and a new one can be made")
    func reportsClearedTPM() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let wrapped = try protector.wrap(dataKey, context: context)
            try await tpm.clear()
            let error = failure { () throws(StoreError) in try protector.unwrap(wrapped, context: context) }
            #expect(error?.code == .keyMismatch)
            #expect(error?.reason.contains("cleared") == true)
            let again = try protector.unwrap(protector.wrap(dataKey, context: context), context: context)
            #expect(again == dataKey)
        }
    }

    @Test("A data key wrapped by a TPM does not open in another context")
    func bindsTPMKeyToContext() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let wrapped = try protector.wrap(dataKey, context: context)
            for other in [[], context + [0], Array(context.dropLast()), Array("signet vault slot of another".utf8)] {
                let error = failure { () throws(StoreError) in try protector.unwrap(wrapped, context: other) }
                #expect(error?.code == .keyMismatch)
            }
        }
    }

    @Test("A TPM slot with any byte changed does not open, and leaves nothing in the TPM")
    func refusesTamperedTPMSlot() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let wrapped = try protector.wrap(dataKey, context: context)
            for position in wrapped.indices {
                var changed = wrapped
                changed[position] ^= 1 << (position % 8)
                let error = failure { () throws(StoreError) in try protector.unwrap(changed, context: context) }
                let codes: [StoreError.Code?] = [.corrupt, .keyMismatch, .newerFormat]
                #expect(codes.contains(error?.code), "position \(position): \(String(describing: error))")
            }
            let left = try await tpm.handlesInUse()
            #expect(left.isEmpty)
            let opened = try protector.unwrap(wrapped, context: context)
            #expect(opened == dataKey)
        }
    }

    @Test("A TPM slot with a missing part does not open")
    func refusesTruncatedTPMSlot() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let wrapped = try protector.wrap(dataKey, context: context)
            for count in 0..<wrapped.count {
                let error = failure { () throws(StoreError) in
                    try protector.unwrap(Array(wrapped.prefix(count)), context: context)
                }
                #expect(error?.code == .corrupt || error?.code == .keyMismatch, "\(count) bytes")
            }
        }
    }

    @Test("Wrapping and opening leave nothing in the TPM but its storage key")
    func leavesOnlyStorageKey() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            for _ in 0..<4 {
                let wrapped = try protector.wrap(dataKey, context: context)
                _ = try protector.unwrap(wrapped, context: context)
                #expect(protector.availability() == .usable)
            }
            let inUse = try await tpm.handlesInUse()
            #expect(inUse.isEmpty)
            let persistent = try await tpm.tool("tpm2_getcap", "handles-persistent")
            #expect(persistent.trimmingCharacters(in: .whitespacesAndNewlines) == "- 0x81000001")
        }
    }

    @Test("Wrapping and opening leave other programs' loaded objects in the TPM")
    func keepsForeignTPMObjects() async throws {
        try await SoftwareTPM.with { tpm in
            try await TemporaryDirectory.with { directory in
                _ = try await tpm.tool("tpm2_createprimary", "-C", "owner", "-G", "rsa", "-c", directory.file("context"))
                let before = try await tpm.handlesInUse()
                #expect(!before.isEmpty)
                let protector = TPMProtector(tcti: tpm.tcti)
                _ = try protector.unwrap(protector.wrap(dataKey, context: context), context: context)
                let after = try await tpm.handlesInUse()
                #expect(after == before)
            }
        }
    }

    @Test("A data key opens after the TPM's storage key was evicted")
    func opensAfterStorageKeyEviction() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            let wrapped = try protector.wrap(dataKey, context: context)
            _ = try await tpm.tool("tpm2_evictcontrol", "-C", "owner", "-c", "0x81000001")
            let opened = try protector.unwrap(wrapped, context: context)
            #expect(opened == dataKey)
        }
    }

    @Test("A storage key of another kind stays in the TPM, and wrapping works without it", arguments: ["rsa", "ecc384"])
    func keepsForeignStorageKey(algorithm: String) async throws {
        try await SoftwareTPM.with { tpm in
            try await TemporaryDirectory.with { directory in
                _ = try await tpm.tool("tpm2_createprimary", "-C", "owner", "-G", algorithm, "-c", directory.file("context"))
                _ = try await tpm.tool("tpm2_evictcontrol", "-C", "owner", "-c", directory.file("context"), "0x81000001")
                _ = try await tpm.tool("tpm2_flushcontext", "-t")
                let before = try await tpm.tool("tpm2_readpublic", "-c", "0x81000001")
                let protector = TPMProtector(tcti: tpm.tcti)
                let opened = try protector.unwrap(protector.wrap(dataKey, context: context), context: context)
                #expect(opened == dataKey)
                #expect(protector.availability() == .usable)
                let after = try await tpm.tool("tpm2_readpublic", "-c", "0x81000001")
                #expect(after == before)
                let inUse = try await tpm.handlesInUse()
                #expect(inUse.isEmpty)
            }
        }
    }

    @Test("A TPM with an owner password is reported, and works with an existing storage key")
    func reportsTPMOwnerPassword() async throws {
        try await SoftwareTPM.with { tpm in
            let protector = TPMProtector(tcti: tpm.tcti)
            _ = try await tpm.tool("tpm2_changeauth", "-c", "owner", "harbor")
            let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: context) }
            #expect(error?.code == .denied)
            #expect(error?.reason.contains("password") == true)
            #expect(!protector.availability().isUsable)

            _ = try await tpm.tool("tpm2_changeauth", "-c", "owner", "-p", "harbor")
            let wrapped = try protector.wrap(dataKey, context: context)
            _ = try await tpm.tool("tpm2_changeauth", "-c", "owner", "harbor")
            #expect(protector.availability() == .usable)
            let opened = try protector.unwrap(wrapped, context: context)
            #expect(opened == dataKey)
        }
    }

    @Test("A TPM protector opens a vault")
    func tpmOpensVault() async throws {
        try await SoftwareTPM.with { tpm in
            let (store, protector) = (MemoryStore(), TPMProtector(tcti: tpm.tcti))
            let key = RecordKey(.account, "Harbor Bank", "mira")
            try Vault.create(in: store, protector: protector).put([1, 2, 3], key)
            let vault = try Vault.open(store, protectors: [protector])
            for _ in 0..<100 {
                let content = try vault.get(key)
                #expect(content == [1, 2, 3])
            }
            #expect(protector.privateKeyOperations == 1)
        }
    }
}
#endif
