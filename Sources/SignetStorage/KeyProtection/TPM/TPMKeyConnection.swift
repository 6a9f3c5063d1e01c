import SignetCore

/// A connection to a TPM in which a key stays loaded, together with its session, so that each use of the key takes a single command.
final class TPMKeyConnection: Sendable {
    /// A closure that loads the key over a new connection.
    typealias Load = @Sendable (any TPMOperations) throws(StoreError) -> Void

    private let tcti: String
    private let load: Load
    private let connection: Mutex<(any TPMOperations)?>

    /// Creates a connection from one in which the key was loaded.
    /// - Parameters:
    ///   - open: The connection.
    ///   - tcti: The way to the TPM.
    ///   - load: Loads the key again, after `open` broke.
    init(_ open: sending any TPMOperations, tcti: String, load: @escaping Load) {
        self.tcti = tcti
        self.load = load
        connection = Mutex(open)
    }

    /// Uses the loaded key.
    ///
    /// When the TPM or its resource manager was restarted, or removed an object that was not used for long, the key is loaded over a new
    /// connection, and `body` runs again.
    func use<R: Sendable>(_ body: @Sendable (any TPMOperations) throws(StoreError) -> R) throws(StoreError) -> R {
        try connection.withLock { (connection) throws(StoreError) in
            if let open = connection {
                do throws(StoreError) {
                    return try body(open)
                } catch {
                    // A wrong PIN must not be presented twice.
                    guard error.code != .corrupt, error.code != .denied else { throw error }
                    open.close()
                    connection = nil
                }
            }
            let open = try TPMAccess.connect(tcti)
            try load(open)
            connection = open
            return try body(open)
        }
    }
}
