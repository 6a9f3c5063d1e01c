import Foundation
import SignetCore
import SignetTransfer
import Testing

/// The files in `Fixtures`, which a script created without Signet's code.
enum TransferFixture {
    static let passphrase = Secret("correct horse battery staple".utf8)
    static let secret = "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
    static let other = "JBSWY3DPEHPK3PXP"
    static let bank = AccountID(issuer: "Harbor Bank", accountName: "mira")
    static let alone = AccountID(issuer: "alone", accountName: "alone")
    static let steam = AccountID(issuer: "Games", accountName: "gamer")
    static let long = AccountID(issuer: "Long", accountName: "code")

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

    static func totp(
        _ secret: String = secret, _ algorithm: OTPAlgorithm = .sha1, digits: Int = 6, period: Int = 30
    ) throws -> Mechanism.Kind {
        .oath(
            OATHSettings(
                secret: Secret(try Base32.decode(secret)), algorithm: algorithm, digits: try #require(OTPDigits(digits)),
                factor: .time(period: try #require(OTPPeriod(seconds: period)))))
    }

    static func hotp(_ secret: String = secret, counter: UInt64) throws -> Mechanism.Kind {
        .oath(OATHSettings(secret: Secret(try Base32.decode(secret)), factor: .counter(next: counter)))
    }

    /// Returns an account with these mechanisms.
    static func account(_ id: AccountID = bank, _ kinds: Mechanism.Kind...) -> ImportedAccount {
        var account = ImportedAccount(id: id)
        account.mechanisms = kinds.map { ImportedMechanism(kind: $0) }
        return account
    }
}

extension ImportContent {
    init(_ accounts: ImportedAccount...) {
        self.init()
        self.accounts = accounts
    }

    func kinds(of id: AccountID) -> [Mechanism.Kind]? { accounts.first { $0.id == id }?.mechanisms.map(\.kind) }
}

extension [SkippedEntry] {
    /// The name, type and reason of each skipped entry.
    var rows: [[String]] { map { [$0.name, $0.type, $0.reason.rawValue] } }
}
