import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet enroll --rename and --account")
struct EnrollRenameTests {
    @Test("C10: signet enroll --rename keeps a second realm with the same issuer and user name, and codes and push of each work")
    func keepsSecondRealm() async throws {
        let realms = [try FakePushServer(), try FakePushServer(secret: Secret(Array(repeating: 7, count: 32)))]
        defer { for realm in realms { realm.stop() } }
        let settings = try [OATHSample.secret, Secret(Array(repeating: 5, count: 20))].map {
            OATHSettings(secret: $0, factor: .counter(next: 0))
        }
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", "-", input: .text(realms[0].uri(oath: settings[0]))).succeeds()
            let uri = try realms[1].uri(oath: settings[1])
            try await cli.signet("enroll", "-", input: .text(uri)).fails(73, "--rename")
            let outcome = try await cli.signet("enroll", "-", "--rename", "--json", input: .text(uri)).succeeds()
            #expect(outcome.json["account"]?.string == "mira (2)" && outcome.json["renamedFrom"]?.string == "mira")
            for (index, name) in ["mira", "mira (2)"].enumerated() {
                let code = try await cli.signet("code", name).succeeds().line
                #expect(code == settings[index].code(at: Date()).digits)
                let realm = realms[index]
                realm.send(try realm.message(id: "M1"), id: "1")
                let heard = try await cli.start(["push", "listen", name, "--once", "--json"]).end().succeeds().json
                #expect(heard["mechanism"]?.string == realm.mechanismUID)
                try await cli.signet("push", "approve", #require(heard["id"]?.string)).succeeds()
                #expect(realms.map(\.answers.count) == (index == 0 ? [1, 0] : [1, 1]))
            }
        }
    }

    @Test("C10: signet enroll --rename takes the first free name, and the same secret again is refused")
    func takesFirstFreeName() async throws {
        try await CommandLineFixture.with { cli in
            let secrets = [OATHSample.secretText, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]
            let uris = secrets.map { "otpauth://totp/Harbor:mira?secret=\($0)&issuer=Harbor" }
            for (uri, name) in zip(uris, ["mira", "mira (2)", "mira (3)"]) {
                let dry = try await cli.signet("enroll", "--json", "--rename", "--dry-run", uri).succeeds()
                let enrolled = try await cli.signet("enroll", "--json", "--rename", uri).succeeds()
                #expect(dry.json == enrolled.json && dry.json["account"]?.string == name)
            }
            for uri in uris { try await cli.signet("enroll", "--rename", uri).fails(73, "has a totp mechanism already") }
            #expect(try await cli.accounts().count == 3)
        }
    }

    @Test("C10: signet enroll --account gives the name of the account, and an empty or unsafe one is refused with 64")
    func takesGivenName() async throws {
        try await CommandLineFixture.with { cli in
            let outcome = try await cli.signet("enroll", "--json", "--account", "mira in beta", OATHSample.uri()).succeeds()
            #expect(outcome.json["account"]?.string == "mira in beta" && outcome.json["renamedFrom"]?.string == "mira")
            let names = try await cli.accounts().map { $0["account"]?.string }
            #expect(names == ["mira in beta"])
            for name in ["", "a\u{1B}[2J", "a\u{202E}b"] {
                try await cli.signet("enroll", "--account", name, OATHSample.uri()).fails(64, "--account")
            }
            try await cli.signet("enroll", "--rename", "--replace", OATHSample.uri()).fails(64, "--rename")
            #expect(try await cli.accounts().count == 1)
        }
    }
}
