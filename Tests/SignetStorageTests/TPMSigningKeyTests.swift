#if os(Linux)
import Foundation
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

@Suite("A signing key in a TPM", .enabled(if: TPMSupport.isHere, "\(TPMSupport.missing ?? "")"))
struct TPMSigningKeyTests {
    private let bytes = Array("bytes to sign".utf8)
    private let nonce = Array("a challenge of the server".utf8)

    private func provider(_ tpm: SoftwareTPM) -> SigningKeyProvider { SigningKeyProvider(HardwareKeys(tcti: tpm.tcti)) }

    // The TPM serves one connection at a time, and a key keeps its own: each of these ends with the key that it loaded.

    private func created(_ tpm: SoftwareTPM) throws(StoreError) -> (reference: Secret, publicKey: ES256PublicKey) {
        let key = try provider(tpm).create(.best)
        #expect(key.level == .hardware)
        return (key.reference, key.publicKey)
    }

    private func signature(_ reference: Secret, _ tpm: SoftwareTPM) throws(StoreError) -> [UInt8] {
        try provider(tpm).open(reference).sign(bytes)
    }

    private func attestation(
        _ reference: Secret, _ tpm: SoftwareTPM, nonce: [UInt8]
    ) throws(StoreError) -> KeyAttestation {
        try provider(tpm).open(reference).attestation(nonce: nonce)
    }

    @Test("A signing key in a TPM signs for its public half, also after a restart and with the TPM's storage key evicted")
    func tpmKeySigns() async throws {
        try await SoftwareTPM.with { tpm in
            let (reference, publicKey) = try created(tpm)
            let first = try signature(reference, tpm)
            #expect(publicKey.isValid(first, of: bytes))
            try await tpm.restart()
            let second = try signature(reference, tpm)
            #expect(publicKey.isValid(second, of: bytes) && second != first)
            _ = try await tpm.tool("tpm2_evictcontrol", "-C", "owner", "-c", "0x81000001")
            let third = try signature(reference, tpm)
            #expect(publicKey.isValid(third, of: bytes))
        }
    }

    @Test("Each signature of many by a TPM is valid and 64 bytes long, also when a number is short")
    func tpmSignaturesHaveFixedLength() async throws {
        try await SoftwareTPM.with { tpm in
            let key = try provider(tpm).create(.hardware)
            for round in 0..<300 {
                let input = Array("\(round)".utf8)
                let signature = try key.sign(input)
                #expect(signature.count == 64 && key.publicKey.isValid(signature, of: input), "round \(round)")
            }
        }
    }

    @Test("A signing key is loaded again after a restart of the TPM, and signs from async code")
    func tpmSigningKeySurvivesRestart() async throws {
        try await SoftwareTPM.with { tpm in
            let key = try provider(tpm).create(.hardware)
            for _ in 0..<3 {
                try await tpm.restart()
                let signature = try await key.signature(of: bytes)
                #expect(key.publicKey.isValid(signature, of: bytes))
            }
            await tpm.stop()
            let error = failure { () throws(StoreError) in try key.sign(bytes) }
            #expect(error?.code == .keyUnavailable)
            try await tpm.start()
            let signature = try key.sign(bytes)
            #expect(key.publicKey.isValid(signature, of: bytes))
        }
    }

    @Test("Signing keys leave nothing in the TPM but its storage key")
    func signingLeavesOnlyStorageKey() async throws {
        try await SoftwareTPM.with { tpm in
            for _ in 0..<4 {
                let reference = try created(tpm).reference
                _ = try signature(reference, tpm)
                _ = try attestation(reference, tpm, nonce: nonce)
            }
            let inUse = try await tpm.handlesInUse()
            #expect(inUse.isEmpty)
            let persistent = try await tpm.tool("tpm2_getcap", "handles-persistent")
            #expect(persistent.trimmingCharacters(in: .whitespacesAndNewlines) == "- 0x81000001")
        }
    }

    @Test("A signing key does not open in another TPM, nor after the TPM was cleared")
    func signingKeyBelongsToItsTPM() async throws {
        try await SoftwareTPM.with { tpm in
            let reference = try created(tpm).reference
            try await SoftwareTPM.with { other in
                let error = failure { () throws(StoreError) in try provider(other).open(reference) }
                #expect(error?.code == .keyMismatch && error?.reason.contains("another TPM") == true)
            }
            try await tpm.clear()
            let error = failure { () throws(StoreError) in try provider(tpm).open(reference) }
            #expect(error?.code == .keyMismatch && error?.reason.contains("cleared") == true)
            _ = try created(tpm)
        }
    }

    @Test("A reference with any byte changed does not open, and leaves nothing in the TPM")
    func refusesTamperedSigningKey() async throws {
        try await SoftwareTPM.with { tpm in
            let (reference, publicKey) = try created(tpm)
            let whole = reference.bytes
            for position in whole.indices {
                var changed = whole
                changed[position] ^= 1 << (position % 8)
                let error = failure { () throws(StoreError) in try provider(tpm).open(Secret(changed)) }
                let codes: [StoreError.Code?] = [.corrupt, .keyMismatch, .newerFormat]
                #expect(codes.contains(error?.code), "position \(position): \(String(describing: error))")
            }
            let left = try await tpm.handlesInUse()
            #expect(left.isEmpty)
            let signature = try signature(reference, tpm)
            #expect(publicKey.isValid(signature, of: bytes))
        }
    }

    @Test("The key of a vault's slot does not open as a signing key, nor a signing key as one of a slot")
    func keepsKindsOfKeysApart() async throws {
        try await SoftwareTPM.with { tpm in
            let agreement = try TPMAccess.with(tpm.tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.makeKey() }
            let error = failure { () throws(StoreError) in try provider(tpm).open(SigningKeyReference.tpm(agreement).bytes) }
            #expect(error?.code == .corrupt)
            let signing = try TPMAccess.with(tpm.tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.makeSigningKey() }
            let other = failure { () throws(StoreError) in
                try TPMAccess.with(tpm.tcti) { (tpm: any TPMOperations) throws(StoreError) in try tpm.load(signing) }
            }
            #expect(other?.code == .corrupt)
        }
    }

    @Test("The attestation of a key in a TPM is verified with the challenge, and names the same attestation key each time")
    func tpmAttestsKey() async throws {
        try await SoftwareTPM.with { tpm in
            let (reference, publicKey) = try created(tpm)
            let attestation = try attestation(reference, tpm, nonce: nonce)
            let name = attestation.attestationKeyName
            let key = try attestation.verifiedKey(nonce: nonce, trusting: [name])
            #expect(key == publicKey)
            #expect(throws: KeyAttestationError.nonce) { try attestation.verifiedKey(nonce: [1], trusting: [name]) }
            #expect(throws: KeyAttestationError.attestationKey) { try attestation.verifiedKey(nonce: nonce, trusting: []) }

            try await tpm.restart()
            let other = try created(tpm)
            let second = try self.attestation(other.reference, tpm, nonce: [])
            let otherKey = try second.verifiedKey(nonce: [], trusting: [name])
            #expect(otherKey == other.publicKey)
            let mixed = KeyAttestation(
                statement: second.statement, signature: second.signature, keyArea: attestation.keyArea,
                attestationKeyArea: second.attestationKeyArea)
            #expect(throws: KeyAttestationError.name) { try mixed.verifiedKey(nonce: [], trusting: [name]) }
        }
    }

    @Test("The attestation keys of two TPMs have different names")
    func attestationKeysDiffer() async throws {
        try await SoftwareTPM.with { tpm in
            let first = try attestation(created(tpm).reference, tpm, nonce: nonce)
            try await SoftwareTPM.with { other in
                let second = try attestation(created(other).reference, other, nonce: nonce)
                #expect(second.attestationKeyName != first.attestationKeyName)
            }
        }
    }

    @Test("A nonce of 32 bytes is attested, and a longer one is refused")
    func limitsNonce() async throws {
        try await SoftwareTPM.with { tpm in
            let key = try provider(tpm).create(.hardware)
            let longest = [UInt8](repeating: 7, count: 32)
            let attestation = try key.attestation(nonce: longest)
            let attested = try attestation.verifiedKey(nonce: longest, trusting: [attestation.attestationKeyName])
            #expect(attested == key.publicKey)
            let error = failure { () throws(StoreError) in try key.attestation(nonce: longest + [7]) }
            #expect(error?.code == .invalid)
            let signature = try key.sign(bytes)
            #expect(key.publicKey.isValid(signature, of: bytes))
        }
    }

    @Test("A password of the endorsement hierarchy is reported by an attestation, and signing works with it")
    func reportsEndorsementPassword() async throws {
        try await SoftwareTPM.with { tpm in
            let (reference, publicKey) = try created(tpm)
            _ = try await tpm.tool("tpm2_changeauth", "-c", "endorsement", "harbor")
            let error = failure { () throws(StoreError) in try attestation(reference, tpm, nonce: nonce) }
            #expect(error?.code == .denied && error?.reason.contains("endorsement") == true)
            let signature = try signature(reference, tpm)
            #expect(publicKey.isValid(signature, of: bytes))
        }
    }

    @Test("A signing key works with an owner password once the TPM has a storage key; without one, software is used if allowed")
    func signsWithOwnerPassword() async throws {
        try await SoftwareTPM.with { tpm in
            _ = try await tpm.tool("tpm2_changeauth", "-c", "owner", "harbor")
            let best = try provider(tpm).create(.best)
            #expect(best.level == .software)
            let error = failure { () throws(StoreError) in try provider(tpm).create(.hardware) }
            #expect(error?.code == .denied)
            _ = try await tpm.tool("tpm2_changeauth", "-c", "owner", "-p", "harbor")
            let (reference, publicKey) = try created(tpm)
            _ = try await tpm.tool("tpm2_changeauth", "-c", "owner", "harbor")
            let signature = try signature(reference, tpm)
            #expect(publicKey.isValid(signature, of: bytes))
            _ = try created(tpm)
        }
    }
}
#endif
