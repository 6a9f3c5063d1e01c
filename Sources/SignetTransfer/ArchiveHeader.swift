import SignetCore
import SignetStorage

/// The plain-text header of an archive.
///
/// It is authenticated together with the content.
struct ArchiveHeader {
    static let magic = Array("SIGNETAR".utf8)
    static let saltLength = 16
    /// The length of the header, which the nonce follows.
    static let length = 53
    /// The total length of header, nonce and tag.
    static let overhead = length + 12 + 16

    private static let suite: UInt8 = 1
    private static let checkStart = length - ArchiveKeys.checkLength

    let cost: ScryptCost
    let salt: [UInt8]
    let bytes: [UInt8]

    /// The check value that distinguishes a wrong passphrase from damage.
    var check: [UInt8] { Array(bytes[Self.checkStart...]) }

    /// Creates the header of a file.
    /// - Parameters:
    ///   - cost: The cost of computing the key from the passphrase.
    ///   - salt: The salt.
    ///   - contentLength: The length of the content in bytes.
    ///   - check: The check value.
    ///   - version: The version, which also distinguishes the file of a synchronization from a backup.
    init(
        cost: ScryptCost, salt: [UInt8], contentLength: Int, check: [UInt8], version: Int = AccountArchive.currentVersion
    ) {
        self.cost = cost
        self.salt = salt
        let numbers = [cost.logRounds, cost.blockSize, cost.parallelism].map { UInt8($0) }
        let count = withUnsafeBytes(of: UInt64(contentLength).bigEndian) { Array($0) }
        bytes = Self.magic + [UInt8(version), Self.suite] + numbers + salt + count + check
    }

    /// Parses the header of an archive, and checks the length of the archive against the header.
    /// - Parameters:
    ///   - archive: The whole file.
    ///   - expected: The version of the kind of file that is to be read.
    /// - Throws: ``ImportError``.
    init(_ archive: [UInt8], version expected: Int = AccountArchive.currentVersion) throws(ImportError) {
        guard AccountArchive.isArchive(archive) else {
            throw ImportFormat.signet.malformed("header", "it does not begin as an archive does")
        }
        guard archive.count > 8 else { throw Self.truncated }
        let version = Int(archive[8])
        guard version > 0 else { throw ImportFormat.signet.malformed("header", "there is no version 0") }
        try Self.check(version, expected)
        guard archive.count >= Self.overhead else { throw Self.truncated }
        guard archive[9] == Self.suite else { throw ImportFormat.signet.malformed("header", "there is no such suite of ciphers") }
        let numbers = archive[10..<13].map(Int.init)
        guard let cost = ScryptCost(logRounds: numbers[0], blockSize: numbers[1], parallelism: numbers[2]) else {
            throw ImportError(.tooCostly, .signet, "header", "the cost of scrypt is out of bounds")
        }
        let count = archive[29..<37].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let actual = UInt64(archive.count - Self.overhead)
        guard count <= actual else { throw Self.truncated }
        guard count == actual else {
            throw ImportError(.damaged, .signet, "content", "something was written after its end")
        }
        self.cost = cost
        salt = Array(archive[13..<29])
        bytes = Array(archive[..<Self.length])
    }

    /// - Throws: ``ImportError/Code/malformed`` for a backup where the file of a synchronization is expected, and
    ///   ``ImportError/Code/newerVersion`` for any other version than `expected`.
    private static func check(_ version: Int, _ expected: Int) throws(ImportError) {
        guard version != expected else { return }
        switch version {
        case AccountArchive.currentVersion:
            throw ImportFormat.signet.malformed("header", "it is a backup, and not a file of 'signet sync'")
        case SyncFile.version:
            throw ImportError(
                .newerVersion, .signet, "header", "version \(version) is a file of 'signet sync', and not a backup")
        default:
            throw ImportError(
                .newerVersion, .signet, "header", "version \(version) is of a newer Signet; this one knows version \(expected)")
        }
    }

    private static var truncated: ImportError {
        ImportError(.damaged, .signet, "content", "it was cut off: it is shorter than its header says")
    }
}

/// The keys that are derived from the passphrase of an archive.
struct ArchiveKeys {
    static let checkLength = 16

    let content: Secret
    let check: [UInt8]

    init(_ passphrase: Secret, salt: [UInt8], cost: ScryptCost, operation: String) throws(StoreError) {
        let root = try PassphraseKey.scrypt(
            PassphraseKey.composed(passphrase), salt: salt, cost: cost, operation: operation)
        content = Sealing.derive("signet archive content 1", from: root)
        check = Array(Sealing.derive("signet archive check 1", from: root).bytes.prefix(Self.checkLength))
    }
}
