package import Foundation
import GRDB

/// Conversion of SQLite's result codes to ``StoreError``.
package enum SQLiteFailure {
    package static func storeError(_ error: any Error, _ operation: String) -> StoreError {
        if let error = error as? StoreError { return error }
        guard let error = error as? DatabaseError else {
            return StoreError(.failed, operation, "the database failed: \(type(of: error))")
        }
        let isFull = error.extendedResultCode == .SQLITE_IOERR_SHMSIZE
        let (code, reason) = meaning(of: isFull ? .SQLITE_FULL : error.resultCode)
        return StoreError(code, operation, reason, status: error.extendedResultCode.rawValue)
    }

    private static func meaning(of code: ResultCode) -> (StoreError.Code, String) {
        switch code {
        case .SQLITE_BUSY, .SQLITE_LOCKED: (.busy, "another process is using the vault; try again")
        case .SQLITE_FULL: (.full, "no space is left; nothing was changed")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: (.corrupt, "the file is damaged; it was left as it is")
        case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_AUTH: (.denied, "the system does not allow it")
        case .SQLITE_IOERR: (.failed, "reading or writing the disk failed")
        default: (.failed, "SQLite failed")
        }
    }
}

extension [UInt8] {
    /// The bytes in the type that GRDB binds as a blob.
    package var databaseBlob: Data { Data(self) }
}
