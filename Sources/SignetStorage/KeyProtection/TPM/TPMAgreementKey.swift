import SignetCore
import Synchronization

/// A key in the TPM that stays loaded, with the session it is used in: one command for every agreement.
final class TPMAgreementKey: AgreementKey {
    let publicKey: [UInt8]
    private let key: TPMKey
    private let tcti: String
    private let connection: Mutex<(any TPMOperations)?>
    private let operations = OperationCount()

    /// Takes the key in `file`, and makes both if there is none. The key is loaded at once: that it loads is the proof that
    /// the hardware is there and the public half is that of a key in it.
    init(file: TPMKeyFile, tcti: String) throws(StoreError) {
        let open = try TPMAccess.connect(tcti)
        key = try file.key { () throws(StoreError) in try open.makeKey() }
        publicKey = try open.load(key)
        self.tcti = tcti
        connection = Mutex(open)
    }

    /// How many operations with the private half were asked for.
    var privateKeyOperations: Int { operations.count }

    func agree(with ephemeral: [UInt8]) throws(StoreError) -> Secret {
        try connection.withLock { (connection) throws(StoreError) in
            if let open = connection {
                do throws(StoreError) {
                    return try agree(with: ephemeral, over: open)
                } catch {
                    guard error.code != .corrupt else { throw error }
                    // The TPM, or its resource manager, was started anew, or dropped what was not used for long.
                    open.close()
                    connection = nil
                }
            }
            let open = try TPMAccess.connect(tcti)
            _ = try open.load(key)
            connection = open
            return try agree(with: ephemeral, over: open)
        }
    }

    private func agree(with point: [UInt8], over open: any TPMOperations) throws(StoreError) -> Secret {
        operations.increment()
        return try open.agree(with: point)
    }
}
