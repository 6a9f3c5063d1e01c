import Foundation
import SignetCore
import SignetTesting
import SwiftASN1
import TestSupport
import Testing
@_spi(FixedExpiryValidationTime) import X509

@testable import SignetServer

@Suite("Certificate authority of the server")
struct AuthorityTests {
    private static let start = Date(timeIntervalSince1970: 1_735_689_600)
    private static let day = 86_400.0
    private static let names = CertifiedNames(["localhost", "127.0.0.1", "::1", "am.example.test"])

    private func authority(_ directory: TemporaryDirectory, _ names: CertifiedNames = names) -> AuthorityDirectory {
        AuthorityDirectory(path: directory.file("tls"), names: names)
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("The authority is created once and kept, with keys that only their owner can read")
    func createsAuthorityOnce() async throws {
        try await TemporaryDirectory.with { directory in
            let authority = authority(directory)
            let first = try authority.identity(at: Self.start)
            #expect(first.authority == .new)
            for name in ["authority.key", "server.key"] { #expect(try mode(directory.file("tls/\(name)")) == 0o600) }
            #expect(try mode(directory.file("tls")) == 0o700)
            let second = try authority.identity(at: Self.start + 30 * Self.day)
            #expect(second.certificate == first.certificate && second.key == first.key && second.authority == .kept)
        }
    }

    @Test("The certificate has the names of this machine, and the authority is constrained to them")
    func constrainsAuthorityToNames() async throws {
        try await TemporaryDirectory.with { directory in
            let identity = try authority(directory).identity(at: Self.start)
            let leaf = try Certificate(pemEncoded: identity.certificate)
            #expect(try CertifiedNames(leaf) == Self.names)
            let root = try Certificate(pemEncoded: String(contentsOfFile: directory.file("tls/authority.pem"), encoding: .utf8))
            let constraints = try #require(try root.extensions.nameConstraints)
            #expect(constraints.permittedDNSDomains.sorted() == ["am.example.test", "localhost"])
            #expect(try root.extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
        }
    }

    @Test(
        "OpenSSL rejects a certificate for another name that was made with the authority's stolen key",
        .enabled(if: Programs.missing(["openssl"]).isEmpty))
    func constraintsLimitStolenKey() async throws {
        try await TemporaryDirectory.with { directory in
            _ = try authority(directory).identity(at: SystemWallClock().now)
            let (file, key) = (directory.file("tls/authority.pem"), directory.file("tls/authority.key"))
            let (mine, forged) = (directory.file("x.key"), directory.file("x.pem"))
            func openssl(_ arguments: String...) async throws -> TestProcess.Outcome {
                try await TestProcess.run("openssl", arguments)
            }
            #expect(try await openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", mine).status == 0)
            for (name, isBelieved) in [("www.bank.example", false), ("am.example.test", true)] {
                let made = try await openssl(
                    "req", "-x509", "-new", "-key", mine, "-subj", "/CN=x", "-CA", file, "-CAkey", key, "-days", "1",
                    "-addext", "subjectAltName=DNS:\(name)", "-addext", "basicConstraints=critical,CA:FALSE", "-out", forged)
                #expect(made.status == 0, "\(made.errors)")
                let verified = try await openssl("verify", "-CAfile", file, forged)
                #expect((verified.status == 0) == isBelieved, "\(name): \(verified.output)\(verified.errors)")
            }
        }
    }

    @Test("The certificate is renewed before it ends under the same authority, and the authority before it ends")
    func renewsCertificateAndAuthority() async throws {
        try await TemporaryDirectory.with { directory in
            let authority = authority(directory)
            let file = directory.file("tls/authority.pem")
            let first = try authority.identity(at: Self.start)
            let root = try String(contentsOfFile: file, encoding: .utf8)
            #expect(try authority.identity(at: first.renewsAt - 1).certificate == first.certificate)
            let second = try authority.identity(at: first.renewsAt)
            #expect(second.certificate != first.certificate && second.authority == .kept)
            #expect(try Certificate(pemEncoded: first.certificate).notValidAfter > first.renewsAt + 20 * Self.day)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == root)
            let key = try String(contentsOfFile: directory.file("tls/authority.key"), encoding: .utf8)
            let late = try authority.identity(at: Self.start + 3600 * Self.day)
            #expect(late.authority == .renewed)
            let (before, after) = (
                try Certificate(pemEncoded: root), try Certificate(pemEncoded: try String(contentsOfFile: file, encoding: .utf8))
            )
            #expect(after.notValidAfter > before.notValidAfter && after.subject == before.subject)
            #expect(try String(contentsOfFile: directory.file("tls/authority.key"), encoding: .utf8) == key)
            // A client that trusts either authority certificate accepts the new server certificate.
            for root in [before, after] {
                var verifier = Verifier(rootCertificates: CertificateStore([root])) {
                    RFC5280Policy(fixedExpiryValidationTime: Self.start + 3601 * Self.day)
                }
                let result = await verifier.validate(
                    leaf: try Certificate(pemEncoded: late.certificate), intermediates: CertificateStore([]))
                guard case .validCertificate = result else {
                    Issue.record("\(result)")
                    continue
                }
            }
            #expect(try authority.identity(at: Self.start + 3600 * Self.day).authority == .kept)
        }
    }

    @Test("Fewer names keep the authority, and a name outside its constraints is an error that names a remedy")
    func rejectsNameOutsideConstraints() async throws {
        try await TemporaryDirectory.with { directory in
            let first = try authority(directory).identity(at: Self.start)
            let fewer = try authority(directory, CertifiedNames(["localhost", "127.0.0.1"])).identity(at: Self.start)
            #expect(fewer.certificate == first.certificate)
            // Addresses are not constrained: a certificate with one more address is issued.
            let more = try authority(directory, CertifiedNames(["localhost", "192.0.2.7"])).identity(at: Self.start)
            #expect(more.certificate != first.certificate && more.authority == .kept)
            let error = #expect(throws: ServerTLSError.self) {
                try authority(directory, CertifiedNames(["other.example.test"])).identity(at: Self.start)
            }
            #expect(error?.description.contains("other.example.test, only for am.example.test, localhost") == true)
            #expect(try authority(directory).identity(at: Self.start).authority == .kept)
        }
    }

    /// The damage to the files and a word of the error message; nil when the server repairs the damage.
    static let damage: [(String, @Sendable (TemporaryDirectory) throws -> Void, String?)] = [
        (
            "the authority's key is gone", { try FileManager.default.removeItem(atPath: $0.file("tls/authority.key")) },
            "not an authority"
        ),
        (
            "the authority is garbage", { try Data("x".utf8).write(to: URL(filePath: $0.file("tls/authority.pem"))) },
            "not an authority"
        ),
        (
            "the key is another's",
            {
                try FileManager.default.removeItem(atPath: $0.file("tls/authority.key"))
                try FileManager.default.copyItem(atPath: $0.file("tls/server.key"), toPath: $0.file("tls/authority.key"))
            }, "not an authority"
        ),
        ("the key is open to others", { _ = chmod($0.file("tls/authority.key"), 0o640) }, "chmod 600"),
        ("the key is a link", { try link($0, "tls/authority.key") }, "authority.key is a symbolic link"),
        ("the authority is a link", { try link($0, "tls/authority.pem") }, "authority.pem is a symbolic link"),
        ("the server's certificate is a link", { try link($0, "tls/server.pem") }, "server.pem is a symbolic link"),
        ("the directory is a link", { try link($0, "tls") }, "tls is a symbolic link"),
        ("the certificate can be written by others", { _ = chmod($0.file("tls/authority.pem"), 0o666) }, "authority.pem is open"),
        ("the directory can be written by the group", { _ = chmod($0.file("tls"), 0o770) }, "chmod 700"),
        ("the directory is open to others", { _ = chmod($0.file("tls"), 0o777) }, "chmod 700"),
        ("the server's key is gone", { try FileManager.default.removeItem(atPath: $0.file("tls/server.key")) }, nil),
        ("the server's certificate is garbage", { try Data("x".utf8).write(to: URL(filePath: $0.file("tls/server.pem"))) }, nil),
    ]

    /// Moves a file out of the directory and leaves a link to it.
    private static func link(_ directory: TemporaryDirectory, _ name: String) throws {
        let target = directory.file("elsewhere")
        try FileManager.default.moveItem(atPath: directory.file(name), toPath: target)
        try FileManager.default.createSymbolicLink(atPath: directory.file(name), withDestinationPath: target)
    }

    @Test(
        "A file or directory of another user is refused with its name",
        .enabled(if: geteuid() == 0, "only root can give files away"),
        arguments: ["tls", "tls/authority.key", "tls/authority.pem", "tls/server.key", "tls/server.pem"])
    func refusesAuthorityOfForeignOwner(name: String) async throws {
        try await TemporaryDirectory.with { directory in
            _ = try authority(directory).identity(at: Self.start)
            #expect(chown(directory.file(name), 65534, 65534) == 0)
            let error = #expect(throws: ServerTLSError.self) { try authority(directory).identity(at: Self.start) }
            let text = try #require(error?.description)
            #expect(text.contains("\(directory.file(name)) belongs to another user"))
        }
    }

    @Test("A link to a directory is refused also with a slash at its end")
    func refusesLinkWithSlash() async throws {
        try await TemporaryDirectory.with { directory in
            _ = try authority(directory).identity(at: Self.start)
            try Self.link(directory, "tls")
            let error = #expect(throws: ServerTLSError.self) {
                try AuthorityDirectory(path: directory.file("tls/"), names: Self.names).identity(at: Self.start)
            }
            #expect(error?.description.contains("symbolic link") == true)
        }
    }

    @Test(
        "Damage to the authority is reported without removing files; a damaged server certificate is issued again",
        arguments: 0..<damage.count)
    func reportsDamagedAuthority(index: Int) async throws {
        let (what, damage, word) = Self.damage[index]
        try await TemporaryDirectory.with { directory in
            let authority = authority(directory)
            _ = try authority.identity(at: Self.start)
            try damage(directory)
            let before = try FileManager.default.contentsOfDirectory(atPath: directory.file("tls")).sorted()
            let found = Result { try authority.identity(at: Self.start) }
            switch found {
            case .success(let identity): #expect(word == nil && identity.authority == .kept, "\(what)")
            case .failure(let error):
                let isNamed = word.map { "\(error)".contains($0) }
                #expect(isNamed == true, "\(what): \(error)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("tls")).sorted() == before)
            }
        }
    }

    @Test("A key without a certificate after a crash gets its certificate at the next start")
    func completesInterruptedCreation() async throws {
        try await TemporaryDirectory.with { directory in
            let authority = authority(directory)
            _ = try authority.identity(at: Self.start)
            let key = try String(contentsOfFile: directory.file("tls/authority.key"), encoding: .utf8)
            try FileManager.default.removeItem(atPath: directory.file("tls/authority.pem"))
            #expect(try authority.identity(at: Self.start).authority == .new)
            #expect(try String(contentsOfFile: directory.file("tls/authority.key"), encoding: .utf8) == key)
            #expect(try authority.identity(at: Self.start).authority == .kept)
        }
    }

    @Test("Processes that start at once in one directory all use the same authority")
    func concurrentStartsShareAuthority() async throws {
        try await TemporaryDirectory.with { directory in
            let authority = authority(directory)
            let certificates = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try authority.identity(at: Self.start).certificate } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(certificates.count == 1)
        }
    }
}
