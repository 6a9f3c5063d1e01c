// Keep a signing key in the TPM or the Secure Enclave, and what opens it again in the vault.
import SignetCore
import SignetStorage

// snippet.hide
func signature(of bytes: [UInt8], in vault: Vault) throws -> [UInt8] {
    // snippet.show
    let provider = SigningKeyProvider()
    let record = RecordKey(.item, "com.example.app.signing-key")
    let key: any SigningKey
    if let stored = try vault.read({ (records: any RecordReader) throws(StoreError) in try records.record(record) }) {
        key = try provider.open(Secret(stored))
    } else {
        key = try provider.create(.best)  // .hardware: never in software
        let reference = key.reference.withUnsafeBytes { Array($0) }
        try vault.write { (records: any RecordWriter) throws(StoreError) in try records.put(reference, record) }
    }
    let signature = try key.sign(bytes)  // key.level is .hardware or .software
    // snippet.hide
    return signature
}
