import Foundation
import PingPush
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("PushUriParser")
struct PushUriParserTests {
    private static let endpoint = "http://am.example.test:8081/am/json/push/sns/message"
    private static let key = "b3uYLkQ7dRPjBaIzV0t_aijoXRgMq-NP5AwVAvRfa_E"

    private static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }

    private static func uri(
        _ more: String = "", scheme: String = "pushauth://push", label: String = "Harbor:mira", secret: String? = key
    ) -> String {
        let (a, r) = (base64(endpoint + "?_action=authenticate"), base64(endpoint + "?_action=register"))
        return "\(scheme)/\(label)?a=\(a)&r=\(r)\(secret.map { "&s=\($0)" } ?? "")\(more)"
    }

    private static func made(
        userId: String? = nil, resourceId: String? = "resource-1", issuer: String = "ForgeRock", color: String? = nil,
        image: String? = nil, policies: String? = nil, secret: String = "c2hhcmVkU2VjcmV0VmFsdWU="
    ) -> PushCredential {
        PushCredential(
            userId: userId, resourceId: resourceId, issuer: issuer, displayIssuer: "Shown", accountName: "user+1@example.com",
            serverEndpoint: endpoint, sharedSecret: secret, imageURL: image, backgroundColor: color, policies: policies)
    }

    @Test(
        "A URI without an invitation, with plain http and with a secret of any length describes a credential",
        arguments: ["pushauth://push", "mfauth://push", "mfauth://totp", "PUSHAUTH://push"])
    func parsesDescription(scheme: String) async throws {
        for secret in [Self.key, "c2hvcnQ"] {
            let credential = try await PushUriParser.parse(Self.uri(scheme: scheme, secret: secret))
            #expect((credential.issuer, credential.accountName) == ("Harbor", "mira"))
            #expect((credential.displayIssuer, credential.displayAccountName) == ("Harbor", "mira"))
            #expect(credential.serverEndpoint == Self.endpoint && credential.platform == .pingAM)
            #expect(credential.registrationEndpoint == Self.endpoint + "?_action=register")
            #expect(credential.authenticationEndpoint == Self.endpoint + "?_action=authenticate")
            #expect(credential.updateEndpoint == Self.endpoint + "?_action=refresh")
            #expect(credential.userId == nil && credential.imageURL == nil && credential.backgroundColor == nil)
            #expect(try await PushCredential.fromUri(Self.uri(scheme: scheme, secret: secret)).issuer == "Harbor")
        }
    }

    @Test("A described credential with plain http or a short secret cannot be saved")
    func describedCredentialIsChecked() async throws {
        let fixture = try await PushClientFixture()
        for (secret, policy) in [(Self.key, "plainHTTPHosts"), ("c2hvcnQ", "32 bytes")] {
            let credential = try await PushUriParser.parse(Self.uri(secret: secret))
            await #expect {
                try await fixture.client.saveCredential(credential)
            } throws: {
                if case PushError.invalidParameterValue(let text) = $0 { text.contains(policy) } else { false }
            }
        }
        let lenient = try await PushClientFixture { $0.plainHTTPHosts = ["am.example.test"] }
        let credential = try await PushUriParser.parse(Self.uri())
        try await lenient.client.saveCredential(credential)
        #expect(try await lenient.client.getCredentials().map(\.id) == [credential.id])
    }

    @Test("The optional values of a URI are read, as base64 or plain text")
    func parsesOptionalValues() async throws {
        let policies = #"{"biometricOnly":true}"#
        let more = "&d=\(Self.base64("user3"))&pid=\(Self.base64("581dd3c8-3c69"))&image=\(Self.base64("http://x.test/a.png"))"
        let credential = try await PushUriParser.parse(
            Self.uri("\(more)&policies=\(Data(policies.utf8).base64EncodedString())&issuer=\(Self.base64("Harbor Bank"))"))
        #expect(credential.userId == "user3" && credential.resourceId == "581dd3c8-3c69" && credential.issuer == "Harbor Bank")
        #expect(credential.imageURL == "http://x.test/a.png" && credential.policies == policies)
        for color in ["519387", "%23519387", "#519387"] {
            #expect(try await PushUriParser.parse(Self.uri("&b=\(color)")).backgroundColor == "#519387")
        }
        let account = try await PushUriParser.parse(Self.uri("&issuer=\(Self.base64("ForgeRock"))", label: "mira@example.com"))
        #expect((account.issuer, account.accountName) == ("ForgeRock", "mira@example.com"))
        let escaped = try await PushUriParser.parse(Self.uri(label: "My%20Company%20Inc.:john%2Bdoe%40example.com"))
        #expect((escaped.issuer, escaped.accountName) == ("My Company Inc.", "john+doe@example.com"))
    }

    static let refused: [(String, String)] = [
        (uri(scheme: "invalidscheme://push"), "Invalid URI scheme"), (uri(scheme: "otpauth://totp"), "Invalid URI scheme"),
        (uri(secret: nil), "Missing required parameter: s"), ("not a valid uri at all", ""),
        ("pushauth://push/Harbor:mira?s=\(key)", "Missing required parameter: r"), (uri(secret: "!!"), ""),
        ("pushauth://push/Harbor:mira?a=eA&r=eA&s=\(key)", ""), (String(repeating: "x", count: 20_000), ""),
    ]

    @Test("A URI that describes no credential is refused as invalidUri", arguments: refused)
    func refusesURIWithoutCredential(row: (uri: String, text: String)) async {
        await #expect {
            _ = try await PushUriParser.parse(row.uri)
        } throws: {
            if case PushError.invalidUri(let text) = $0 { row.text.isEmpty || text.contains(row.text) } else { false }
        }
    }

    @Test("Enrollment refuses a blank URI, and one without an invitation, before a request is sent")
    func enrollmentNeedsInvitation() async throws {
        let fixture = try await PushClientFixture()
        let invited = Sample.push
        for uri in ["   ", Self.uri(), invited.replacing(/&c=[^&]*/, with: ""), invited.replacing(/&m=[^&]*/, with: "")] {
            await #expect {
                _ = try await fixture.enroll(uri)
            } throws: {
                if case PushError.invalidUri = $0 { true } else { false }
            }
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("A URI mfauth://push with an invitation enrolls push alone")
    func enrollsMfauthPush() async throws {
        let fixture = try await PushClientFixture()
        let credential = try await fixture.enroll(Sample.push.replacing("pushauth://", with: "mfauth://"))
        #expect(try await fixture.client.getCredentials() == [credential])
    }

    @Test("The registration parameters of a URI are its message id, challenge and load balancer cookie")
    func registrationParameters() async throws {
        let invitation = "&c=jaKZUQlypvRCEugWMVvUWcpNfUFW4pSiB9sVBcKZLis&l=\(Self.base64("amlbcookie=01"))&m=REGISTER:1"
        for scheme in ["pushauth://push", "mfauth://totp"] {
            let parameters = try await PushUriParser.registrationParameters(Self.uri(invitation, scheme: scheme))
            #expect(
                parameters == [
                    "challenge": "jaKZUQlypvRCEugWMVvUWcpNfUFW4pSiB9sVBcKZLis=", "amlbCookie": "amlbcookie=01",
                    "messageId": "REGISTER:1",
                ])
        }
        for parameters in ["&c=jaKZ", "&l=YT1i", "&m=REGISTER:1", "", "&c=&l=&m="] {
            await #expect {
                _ = try await PushUriParser.registrationParameters(Self.uri(parameters))
            } throws: {
                if case PushError.invalidUri(let text) = $0 { text.contains("Missing required parameter") } else { false }
            }
        }
        await #expect {
            _ = try await PushUriParser.registrationParameters("not a valid uri!!")
        } throws: {
            if case PushError.invalidUri = $0 { true } else { false }
        }
    }

    @Test("A credential is written as a pushauth URI with its names, addresses and secret")
    func writesCredentialAsURI() async throws {
        let uri = try await PushUriParser.format(
            Self.made(userId: "user-1", color: "#336699", image: "http://x.test/a.png", policies: "a,b"))
        #expect(uri.hasPrefix("pushauth://push/ForgeRock:user%2B1%40example.com?"))
        for part in [
            "r=", "&a=", "&s=c2hhcmVkU2VjcmV0VmFsdWU&", "&issuer=ForgeRock", "&d=", "&pid=", "&image=", "&b=336699", "&policies=",
        ] {
            #expect(uri.contains(part))
        }
        #expect(!uri.contains("#") && !uri.contains("Shown"), "the display name is not part of the URI")
        #expect(try await Self.made(color: "#336699").toUri().contains("&b=336699"))
        let plain = try await PushUriParser.format(Self.made(resourceId: "", issuer: ""))
        #expect(plain.hasPrefix("pushauth://push/user%2B1%40example.com?") && !plain.contains("issuer="))
    }

    @Test(
        "A written URI is read back as the same credential",
        arguments: ["ForgeRock", "Acme", "Forge Rock & Co.", "Übersee", "a%2Fb", "MyCompany"])
    func formatRoundTrip(issuer: String) async throws {
        let original = Self.made(
            userId: "user-1", issuer: issuer, color: "#FF5733", image: "https://x.test/a.png", policies: #"{"policy":"value"}"#)
        let uri = try await original.toUri()
        let parsed = try await PushCredential.fromUri(uri)
        #expect((parsed.issuer, parsed.accountName) == (original.issuer, original.accountName))
        #expect((parsed.userId, parsed.resourceId) == (original.userId, original.resourceId))
        #expect((parsed.serverEndpoint, parsed.imageURL) == (original.serverEndpoint, original.imageURL))
        #expect((parsed.backgroundColor, parsed.policies) == (original.backgroundColor, original.policies))
        #expect(try await parsed.toUri() == uri)
    }

    @Test("A credential without a usable secret cannot be written as a URI", arguments: ["", "no base64!"])
    func refusesFormat(secret: String) async {
        await #expect {
            _ = try await Self.made(secret: secret).toUri()
        } throws: {
            if case PushError.uriFormatting = $0 { true } else { false }
        }
    }
}
