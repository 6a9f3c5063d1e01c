import Foundation
import SignetCore
import SignetStorage

/// Reads and writes files that are exchanged with other programs, such as exports and backups.
///
/// `-` is standard input or output.
enum TransferFile {
    static let standardStream = "-"

    /// Returns the name of a file to read, for messages.
    static func inputName(_ path: String) -> String { path == standardStream ? "standard input" : path }

    /// Returns the contents of a file, a pipe or standard input; nil if they exceed `limit` bytes.
    static func contents(of path: String, limit: Int) throws -> [UInt8]? {
        if path == standardStream { return try contents(of: STDIN_FILENO, inputName(path), limit: limit) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        return try contents(of: descriptor, path, limit: limit)
    }

    private static func contents(of descriptor: Int32, _ name: String, limit: Int) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", name) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        return nil
    }

    /// Throws if a file exists already, so that the user isn't asked for a passphrase in vain.
    static func checkIsFree(_ path: String, replacing: Bool) throws {
        guard path != standardStream else { return }
        guard !path.isEmpty else { throw Failure(.usage, "file", "the name of the file is empty") }
        guard let status = FileStatus(at: path) else { return }
        guard replacing else { throw occupied(path) }
        // The new file would replace the link or the device itself, and not its target.
        guard status.isFile else {
            throw Failure(.notAllowed, "file", "\(path) is not an ordinary file, and was left as it is; name the file itself")
        }
    }

    /// Writes a file of mode 0600.
    ///
    /// Either the whole file is written durably under its name, or nothing is. An existing file is replaced only if `replacing`
    /// is true.
    static func write(_ bytes: [UInt8], to path: String, replacing: Bool) throws {
        try checkIsFree(path, replacing: replacing)
        let unfinished = "\(path).\(RandomID.uuid().prefix(8)).new"
        do throws(StoreError) {
            try PrivateFile.create(unfinished, containing: bytes)
        } catch {
            guard error.code == .invalid else { throw error }
            throw Failure(.notFound, "file", "\(path) cannot be made: there is no such directory")
        }
        do throws(StoreError) {
            if replacing {
                try PrivateFile.move(unfinished, to: path)
            } else {
                try name(unfinished, path, bytes)
            }
        } catch {
            if error.code != .outcomeUnknown { PrivateFile.remove(unfinished) }
            throw error.code == .exists ? occupied(path) : error
        }
        guard try contents(of: path, limit: bytes.count) == bytes else {
            throw Failure(.store, "file", "\(path) was written, but its content differs when it is read again; check the disk")
        }
    }

    /// Gives a file its final name, unless that name exists.
    ///
    /// It uses a hard link, because renaming would replace an existing file.
    private static func name(_ unfinished: String, _ path: String, _ bytes: [UInt8]) throws(StoreError) {
        if link(unfinished, path) == 0 {
            unlink(unfinished)
            return try PrivateFile.confirm(path)
        }
        guard errno != EEXIST else { throw StoreError(.exists, "create \(path)", "it exists already") }
        // The file system has no hard links, as on many USB sticks. An interruption may leave a truncated file here; 'backup
        // verify' detects that.
        try PrivateFile.create(path, containing: bytes)
        unlink(unfinished)
    }

    private static func occupied(_ path: String) -> Failure {
        Failure(.alreadyExists, "file", "\(path) is there already, and was left as it is; --replace overwrites it")
    }

    private static func failure(_ operation: String, _ path: String) -> Failure {
        let exit: Failure.Exit =
            switch errno {
            case ENOENT: .notFound
            case EISDIR, ENOTDIR, ELOOP, ENAMETOOLONG: .badInput
            case EACCES, EPERM, EROFS: .notAllowed
            default: .store
            }
        return Failure(exit, "file", "\(operation) \(path): \(String(cString: strerror(errno)))")
    }
}
