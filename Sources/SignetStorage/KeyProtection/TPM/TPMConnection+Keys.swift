#if canImport(CTSS2) && canImport(Glibc)
import CTSS2
import SignetCore

/// A storage key: the parent of Signet's keys, to which the secret of a session is encrypted.
private struct StorageKey {
    let handle: ESYS_TR
    let name: [UInt8]
    let area: TPMT_PUBLIC
}

// MARK: The storage key

extension TPMConnection {
    /// Returns the storage key for a new key.
    ///
    /// If the machine has none, creates one and makes it persistent, because creating it again each time would take a second on a
    /// real TPM. If another program's key occupies the handle, it is left there, and a transient storage key is created.
    private func storageKey() throws(StoreError) -> StorageKey {
        if let existing = try existingStorageKey() {
            return TPMTemplate.isStorageKey(existing.area) ? existing : try primaryKey()
        }
        let made = try primaryKey()
        var existing = Self.none
        let answer = tss.Esys_EvictControl(
            esys, Self.owner, made.handle, Self.password, Self.none, Self.none, TPMTemplate.storageKeyHandle, &existing)
        // Another process may have made its storage key persistent just now.
        if TPMResponse(code: answer).kind != .defined { try check("keep the TPM's storage key", answer) }
        return made
    }

    /// Returns the storage key with this name.
    /// - Throws: ``StoreError/Code/keyMismatch`` when this TPM has no storage key with this name.
    private func storageKey(named name: [UInt8]) throws(StoreError) -> StorageKey {
        if let existing = try existingStorageKey(), existing.name == name { return existing }
        // The persistent key may have been removed. The TPM then creates it again from its seed.
        let made = try primaryKey()
        guard made.name == name else {
            throw StoreError(
                .keyMismatch, "load the key into the TPM",
                "another TPM made it, or this one was cleared since; use another way to open the vault. Nothing was changed")
        }
        return made
    }

    private func existingStorageKey() throws(StoreError) -> StorageKey? {
        var handle = Self.none
        let answer = tss.Esys_TR_FromTPMPublic(
            esys, TPMTemplate.storageKeyHandle, Self.none, Self.none, Self.none, &handle)
        if TPMResponse(code: answer).kind == .handle { return nil }
        try check("look for the TPM's storage key", answer)
        return try described(handle)
    }

    private func primaryKey() throws(StoreError) -> StorageKey {
        var handle = Self.none
        var (nothing, template) = (TPM2B_SENSITIVE_CREATE(), TPMTemplate.storageKey)
        var (outside, registers) = (TPM2B_DATA(), TPML_PCR_SELECTION())
        try check(
            "make the TPM's storage key",
            tss.Esys_CreatePrimary(
                esys, Self.owner, Self.password, Self.none, Self.none, &nothing, &template, &outside, &registers, &handle,
                nil, nil, nil, nil))
        return try described(own(handle))
    }

    private func described(_ handle: ESYS_TR) throws(StoreError) -> StorageKey {
        var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        defer {
            tss.Esys_Free(area)
            tss.Esys_Free(name)
        }
        try check(
            "look at the TPM's storage key",
            tss.Esys_ReadPublic(esys, handle, Self.none, Self.none, Self.none, &area, nil, nil))
        // This has to be the name that tpm2-tss computes from the public area to which it will encrypt the session's secret, not
        // the name in the TPM's response.
        try check("look at the TPM's storage key", tss.Esys_TR_GetName(esys, handle, &name))
        guard let area, let name else {
            throw StoreError(.failed, "look at the TPM's storage key", "the TPM returned no storage key")
        }
        return StorageKey(
            handle: handle, name: bytes(of: name.pointee.name, name.pointee.size), area: area.pointee.publicArea)
    }

    /// Starts the session for calls that do not need a key of Signet.
    ///
    /// Uses the persistent storage key, or creates a transient one that is removed again.
    func startSession() throws(StoreError) {
        let existing = try existingStorageKey()
        let key = if let existing, TPMTemplate.isStorageKey(existing.area) { existing } else { try primaryKey() }
        _ = try session(saltedBy: key.handle)
        drop(key.handle)
    }

    /// The value of `TPM_PT_PERMANENT`, the first of the variable properties.
    private static let permanentStates: TPM2_PT = 0x200

    func checkFitness() throws(StoreError) {
        let curves = try capability(TPM2_CAP_ECC_CURVES, from: UInt32(TPM2_ECC_NIST_P256), count: 1).eccCurves
        guard curves.count > 0, curves.eccCurves.0 == TPM2_ECC_NIST_P256 else {
            throw StoreError(.keyUnavailable, "look at the TPM", "it cannot do P-256")
        }
        if let existing = try existingStorageKey(), TPMTemplate.isStorageKey(existing.area) { return }
        let states = try capability(TPM2_CAP_TPM_PROPERTIES, from: Self.permanentStates, count: 1).tpmProperties
        guard states.tpmProperty.0.value & UInt32(TPMA_PERMANENT_OWNERAUTHSET) == 0 else {
            throw StoreError(
                .denied, "look at the TPM",
                "it has no storage key of P-256, and its owner has set a password; let the owner make one at 0x81000001")
        }
    }
}

// MARK: Signet's keys

extension TPMConnection {
    func makeKey(releasedBy pin: TPMPin?) throws(StoreError) -> TPMKey {
        try makeKey(pin == nil ? TPMTemplate.agreementKey : TPMTemplate.pinKey, releasedBy: pin)
    }

    /// Creates a key with this public area.
    func makeKey(_ template: TPM2B_PUBLIC, releasedBy pin: TPMPin? = nil) throws(StoreError) -> TPMKey {
        let storageKey = try storageKey()
        defer { drop(storageKey.handle) }
        _ = try session(saltedBy: storageKey.handle)
        var (secrets, template) = (TPM2B_SENSITIVE_CREATE(), template)
        defer { ctss2_wipe(&secrets, MemoryLayout<TPM2B_SENSITIVE_CREATE>.size) }
        if let pin { set(&secrets.sensitive.userAuth, to: pin) }
        var (outside, registers) = (TPM2B_DATA(), TPML_PCR_SELECTION())
        var sealed: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
        defer {
            tss.Esys_Free(sealed)
            tss.Esys_Free(area)
        }
        try check(
            "make a key in the TPM",
            tss.Esys_Create(
                esys, storageKey.handle, session([.command, .answer]), Self.none, Self.none, &secrets, &template, &outside,
                &registers, &sealed, &area, nil, nil, nil))
        guard let sealed, let area else { throw StoreError(.failed, "make a key in the TPM", "the TPM returned no key") }
        return TPMKey(storageKey: storageKey.name, blob: try blob(area, sealed))
    }

    /// Returns both halves in the TPM's own encoding.
    private func blob(
        _ area: UnsafePointer<TPM2B_PUBLIC>, _ sealed: UnsafePointer<TPM2B_PRIVATE>
    ) throws(StoreError) -> [UInt8] {
        var blob = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size + MemoryLayout<TPM2B_PRIVATE>.size)
        var length = 0
        try check("write down a key", tss.Tss2_MU_TPM2B_PUBLIC_Marshal(area, &blob, blob.count, &length))
        try check("write down a key", tss.Tss2_MU_TPM2B_PRIVATE_Marshal(sealed, &blob, blob.count, &length))
        return Array(blob.prefix(length))
    }

    func load(_ key: TPMKey, releasedBy pin: TPMPin?) throws(StoreError) -> [UInt8] {
        try load(key, releasedBy: pin) { TPMTemplate.isAgreementKey($0, needsPin: pin != nil) }
    }

    /// Loads a key whose public area is the expected one.
    func load(
        _ key: TPMKey, releasedBy pin: TPMPin? = nil, ifArea isExpected: (TPMT_PUBLIC) -> Bool
    ) throws(StoreError) -> [UInt8] {
        let operation = "load the key into the TPM"
        var (area, sealed, length) = (TPM2B_PUBLIC(), TPM2B_PRIVATE(), 0)
        // tpm2-tss accepts some wrong lengths. Encoding the result again detects them.
        guard tss.Tss2_MU_TPM2B_PUBLIC_Unmarshal(key.blob, key.blob.count, &length, &area) == 0,
            tss.Tss2_MU_TPM2B_PRIVATE_Unmarshal(key.blob, key.blob.count, &length, &sealed) == 0,
            (try? blob(&area, &sealed)) == key.blob, isExpected(area.publicArea)
        else { throw StoreError(.corrupt, operation, "it is damaged; it was left as it is") }

        let storageKey = try storageKey(named: key.storageKey)
        defer { drop(storageKey.handle) }
        _ = try session(saltedBy: storageKey.handle)
        var handle = Self.none
        let answer = tss.Esys_Load(
            esys, storageKey.handle, try session([.command, .answer]), Self.none, Self.none, &sealed, &area, &handle)
        guard !TPMResponse(code: answer).isAboutParameter else {
            throw StoreError(
                .keyMismatch, operation, "the TPM does not take it back: it was changed since it was made",
                status: Int32(bitPattern: answer))
        }
        try check(operation, answer)
        loadedKey = own(handle)
        isReleasedByPin = pin != nil
        if let pin {
            var auth = TPM2B_AUTH()
            defer { ctss2_wipe(&auth, MemoryLayout<TPM2B_AUTH>.size) }
            set(&auth, to: pin)
            try check(operation, tss.Esys_TR_SetAuth(esys, handle, &auth))
        }
        return TPMTemplate.point(area.publicArea.unique.ecc)
    }

    /// Copies the PIN into a buffer, which the caller wipes, without a copy elsewhere.
    private func set(_ auth: inout TPM2B_AUTH, to pin: TPMPin) {
        pin.authorization.withUnsafeBytes { bytes in
            auth.size = UInt16(bytes.count)
            withUnsafeMutableBytes(of: &auth.buffer) { $0.copyBytes(from: bytes) }
        }
    }

    func agree(with point: [UInt8]) throws(StoreError) -> Secret {
        let operation = "use the key in the TPM"
        guard let loadedKey else { throw StoreError(.failed, operation, "no key is loaded") }
        guard point.count == 65, point[0] == 4 else {
            throw StoreError(.corrupt, operation, "what was sealed does not begin with a point of P-256")
        }
        var theirs = TPM2B_ECC_POINT()
        (theirs.point.x.size, theirs.point.y.size) = (32, 32)
        fill(&theirs.point.x.buffer, with: Array(point[1..<33]))
        fill(&theirs.point.y.buffer, with: Array(point[33...]))
        var shared: UnsafeMutablePointer<TPM2B_ECC_POINT>?
        defer {
            if let shared { ctss2_wipe(shared, MemoryLayout<TPM2B_ECC_POINT>.size) }
            tss.Esys_Free(shared)
        }
        let answer = tss.Esys_ECDH_ZGen(
            esys, loadedKey, try session([.command, .answer]), Self.none, Self.none, &theirs, &shared)
        if isReleasedByPin, let refusal = TPMResponse(code: answer).pinRefusal(operation) { throw refusal }
        try check(operation, answer)
        guard let shared else { throw StoreError(.failed, operation, "the TPM did not answer") }
        return Secret(TPMTemplate.padded(shared.pointee.point.x))
    }
}
#endif
