import Foundation

/// `signet code NAME` beside other programs that print the code of an account, each with the same accounts: the whole process, which
/// unlocks its own store with a key file, a key or a password, and asks no user.
enum PeerRows {
    private static let sizes = [10, 5_000]
    private static var peers: [any CodePeer.Type] { [OATHTool.self, PassOTP.self, OTPClient.self, KeePassXC.self] }

    static func measure(signet: String) async throws -> [Row] {
        var rows: [Row] = []
        for size in sizes {
            let accounts = SampleAccount.several(size)
            let vault = try SampleVault(signet: signet, accounts: accounts)
            defer { vault.remove() }
            let ours = SignetCode(vault)
            for peer in peers { rows.append(try await row(ours, peer, accounts, vault.directory + "/\(peer.name)")) }
        }
        return rows
    }

    private static func row(
        _ ours: SignetCode, _ peer: any CodePeer.Type, _ accounts: [SampleAccount], _ directory: String
    ) async throws -> Row {
        let title = "signet code of \(accounts.count) accounts, beside \(peer.name)"
        guard peer.isInstalled else { return .skipped(title, because: "\(peer.name) is not installed") }
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let account = accounts[accounts.count / 2]
        let theirs: any CodePeer
        do {
            theirs = try peer.init(accounts, in: directory)
            _ = try theirs.code(of: account)
        } catch {
            return .skipped(title, because: "\(peer.name) prints no code of \(accounts.count) accounts: \(error)")
        }
        defer { theirs.stop() }
        try checkCodes(ours, theirs, account)
        let outcome = try await Race(
            ours: .calls("signet code") { _ in try ours.code(of: account).utf8.count },
            reference: .calls(peer.name) { _ in try theirs.code(of: account).utf8.count }, slice: .microseconds(1)
        ).run()
        return Row(title, outcome, peer.limit)
    }

    /// Checks the printed codes, so that no wrong result is measured.
    ///
    /// The second attempt is for a period that ended between the two.
    private static func checkCodes(_ ours: SignetCode, _ theirs: any CodePeer, _ account: SampleAccount) throws {
        for _ in 1...2 {
            let (one, other) = (try ours.code(of: account), try theirs.code(of: account))
            if one == other { return }
        }
        throw BenchError("signet and \(type(of: theirs).name) make different codes")
    }
}

/// `signet` as it is installed, without an agent.
private struct SignetCode {
    private let vault: SampleVault
    private let program: [String]

    init(_ vault: SampleVault) {
        self.vault = vault
        program = vault.installedProgram.map { [$0] } ?? vault.command([])
    }

    func code(of account: SampleAccount) throws -> String {
        try PeerProgram(vault.environment).lastLine(program + ["code", account.name])
    }
}
