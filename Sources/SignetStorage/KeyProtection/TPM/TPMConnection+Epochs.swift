#if canImport(CTSS2) && canImport(Glibc)
import CTSS2

/// A bit field of a vault in the TPM's NV memory.
private struct EpochIndex {
    let handle: ESYS_TR
    let base: UInt64
    let epoch: UInt64?
}

extension TPMConnection {
    private static let attributes = TPMA_NV(
        UInt32(TPM2_NT_BITS) << UInt32(TPMA_NV_TPM2_NT_SHIFT) | TPMA_NV_AUTHREAD | TPMA_NV_AUTHWRITE | TPMA_NV_NO_DA)

    func epoch(ofVault id: String) throws(StoreError) -> UInt64? {
        try startSession()
        let range = TPMEpochRange(vault: id)
        return try retrying { () throws(StoreError) in try indices(of: range).compactMap(\.epoch).max() }
    }

    func remember(epoch: UInt64, ofVault id: String) throws(StoreError) {
        try startSession()
        let range = TPMEpochRange(vault: id)
        try retrying { () throws(StoreError) in try remember(epoch, at: range) }
    }

    func forgetEpoch(ofVault id: String) throws(StoreError) {
        try startSession()
        let range = TPMEpochRange(vault: id)
        try retrying { () throws(StoreError) in try remove(indices(of: range)) }
    }

    private func remember(_ epoch: UInt64, at range: TPMEpochRange) throws(StoreError) {
        let existing = try indices(of: range)
        if let known = existing.compactMap(\.epoch).max() {
            guard known <= epoch else {
                throw StoreError(
                    .rolledBack, "remember an epoch", "the TPM knows epoch \(known) of this vault, which is later than \(epoch)")
            }
            guard known < epoch else { return }
        }
        // The new value is written before the old index is removed. An interruption in between leaves both, and the higher epoch
        // counts.
        if let index = existing.first(where: { TPMEpochRange.bit(for: epoch, base: $0.base) != nil }) {
            try set(epoch, in: index)
            try remove(existing.filter { $0.handle != index.handle })
        } else {
            try set(epoch, in: define(range, base: epoch &- 1))
            try remove(existing)
        }
    }

    /// Runs `body` again, up to ten times, when another program changed or removed an index that `body` had just read.
    ///
    /// In this case the index does not exist any more, or its name has changed and the TPM rejects the authorization.
    private func retrying<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        for _ in 0..<10 {
            do throws(StoreError) {
                return try body()
            } catch {
                let kind = error.platformStatus.flatMap { TPMResponse(code: UInt32(bitPattern: $0)).kind }
                guard kind == .handle || kind == .authFail || kind == .badAuth else { throw error }
            }
        }
        return try body()
    }

    /// Returns the indices of a vault.
    ///
    /// Usually there is one. Two exist after a program was interrupted while it replaced one by the other.
    private func indices(of range: TPMEpochRange) throws(StoreError) -> [EpochIndex] {
        var found: [EpochIndex] = []
        for index in range.indices {
            guard let handle = try existing(index), let area = try publicArea(handle) else { continue }
            // An index without this vault's mark belongs to another program, although its handle could be one of ours.
            guard let base = range.base(ofMark: bytes(of: area.authPolicy.buffer, area.authPolicy.size)),
                area.attributes & ~TPMA_NV(TPMA_NV_WRITTEN) == Self.attributes
            else { continue }
            try present(range.password, for: handle)
            // An index that was never written is left from a program that was interrupted after creating it.
            let isWritten = area.attributes & TPMA_NV(TPMA_NV_WRITTEN) != 0
            let bits = isWritten ? try readBits(handle) : 0
            found.append(EpochIndex(handle: handle, base: base, epoch: TPMEpochRange.epoch(base: base, bits: bits)))
        }
        return found
    }

    private func existing(_ index: UInt32) throws(StoreError) -> ESYS_TR? {
        var handle = Self.none
        let answer = tss.Esys_TR_FromTPMPublic(esys, index, Self.none, Self.none, Self.none, &handle)
        if TPMResponse(code: answer).kind == .handle { return nil }
        try check("look for an epoch", answer)
        return handle
    }

    private func publicArea(_ handle: ESYS_TR) throws(StoreError) -> TPMS_NV_PUBLIC? {
        var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        defer { tss.Esys_Free(area) }
        try check(
            "look for an epoch", tss.Esys_NV_ReadPublic(esys, handle, Self.none, Self.none, Self.none, &area, nil))
        return area?.pointee.nvPublic
    }

    private func readBits(_ handle: ESYS_TR) throws(StoreError) -> UInt64 {
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        defer { tss.Esys_Free(data) }
        try check(
            "read an epoch",
            tss.Esys_NV_Read(esys, handle, handle, session(.answer), Self.none, Self.none, 8, 0, &data))
        guard let data, data.pointee.size == 8 else {
            throw StoreError(.failed, "read an epoch", "the TPM returned less than the 8 bytes of an epoch")
        }
        return bytes(of: data.pointee.buffer, 8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Creates an index at the first free handle.
    private func define(_ range: TPMEpochRange, base: UInt64) throws(StoreError) -> EpochIndex {
        for index in range.indices {
            var area = TPM2B_NV_PUBLIC()
            area.nvPublic.nvIndex = index
            area.nvPublic.nameAlg = TPM2_ALG_SHA256
            area.nvPublic.attributes = Self.attributes
            area.nvPublic.authPolicy.size = 32
            fill(&area.nvPublic.authPolicy.buffer, with: range.mark(base: base))
            area.nvPublic.dataSize = 8
            var password = auth(range.password)
            var handle = Self.none
            let answer = tss.Esys_NV_DefineSpace(
                esys, Self.owner, try session(.command), Self.none, Self.none, &password, &area, &handle)
            if TPMResponse(code: answer).kind == .defined { continue }
            try check("define an NV index for an epoch", answer)
            return EpochIndex(handle: handle, base: base, epoch: nil)
        }
        throw StoreError(.full, "define an NV index for an epoch", "other programs use every NV index that Signet may use")
    }

    private func set(_ epoch: UInt64, in index: EpochIndex) throws(StoreError) {
        guard let bit = TPMEpochRange.bit(for: epoch, base: index.base) else {
            throw StoreError(.failed, "remember an epoch", "the epoch is outside of the range of its NV index")
        }
        try check(
            "remember an epoch",
            tss.Esys_NV_SetBits(
                esys, index.handle, index.handle, try session([]), Self.none, Self.none, bit))
    }

    private func remove(_ indices: [EpochIndex]) throws(StoreError) {
        for index in indices {
            let answer = tss.Esys_NV_UndefineSpace(
                esys, Self.owner, index.handle, try session([]), Self.none, Self.none)
            // If the index does not exist, another program has removed it at the same time.
            if TPMResponse(code: answer).kind != .handle { try check("remove the NV index of an epoch", answer) }
        }
    }

    private func present(_ password: [UInt8], for handle: ESYS_TR) throws(StoreError) {
        var auth = auth(password)
        try check("look for an epoch", tss.Esys_TR_SetAuth(esys, handle, &auth))
    }

    private func auth(_ bytes: [UInt8]) -> TPM2B_AUTH {
        var auth = TPM2B_AUTH()
        auth.size = UInt16(bytes.count)
        fill(&auth.buffer, with: bytes)
        return auth
    }
}
#endif
