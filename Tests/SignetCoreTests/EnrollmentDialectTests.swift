import SignetCore
import Testing

/// The URIs U1 to U18 of protocol/authenticator.md section 1.11, as the tolerant parser reads them.
///
/// The vectors contain U10, and U12 with a trailing `&`, and check every field.
@Suite("Enrollment URIs in the dialects of the existing SDKs")
struct EnrollmentDialectTests {
    private static let key: String = Sample.oathSecretText
    private static let push: String =
        "r=aHR0cHM6Ly9hbS5leGFtcGxlLnRlc3QvYW0vanNvbi9hbHBoYS9wdXNoL3Nucy9tZXNzYWdlP19hY3Rpb249cmVnaXN0ZXI"
        + "&a=aHR0cHM6Ly9hbS5leGFtcGxlLnRlc3QvYW0vanNvbi9hbHBoYS9wdXNoL3Nucy9tZXNzYWdlP19hY3Rpb249YXV0aGVudGljYXRl"

    @Test(
        "U1-U6, U16, U18: The issuer, account and code length are read",
        arguments: [
            (
                "U1", "totp/Harbor%20Bank:mira?secret=\(key)&issuer=Harbor%20Bank&digits=8&period=60&algorithm=SHA256",
                "Harbor Bank", "mira", 8
            ),
            ("U2", "hotp/Harbor%20Bank:mira?secret=\(key)&issuer=Harbor%20Bank&counter=7", "Harbor Bank", "mira", 6),
            (
                "U3", "totp/ForgeRock:demo?secret=GPBV6BFRPUNQNY5QGVTOSVSKIY======&issuer=ForgeRock&digits=6&period=30",
                "ForgeRock", "demo", 6
            ),
            ("U4", "totp/mira?secret=\(key)", "mira", "mira", 6),
            ("U5", "totp/?secret=\(key)&issuer=Harbor", "Harbor", "Untitled", 6),
            ("U6", "totp/Old:mira?secret=\(key)&issuer=New", "New", "mira", 6),
            ("U16", "totp/X:mira?secret=\(key)&digits=7", "X", "mira", 7),
            ("U18", "totp/A:b:c?secret=\(key)", "A", "b:c", 6),
        ])
    func readsIssuerAndAccount(name: String, rest: String, issuer: String, account: String, digits: Int) throws {
        let enrollment = try EnrollmentURI.parse("otpauth://\(rest)")
        #expect(enrollment.account == AccountID(issuer: issuer, accountName: account))
        #expect(enrollment.oath?.digits.count == digits)
    }

    @Test(
        "U3, U8, U9: Padding, separators and look-alikes in a secret are accepted",
        arguments: [
            ("U3", "secret=GPBV6BFRPUNQNY5QGVTOSVSKIY======", "33C35F04B17D1B06E3B03566E9564A46"),
            ("U8", "secret=kdj7-cdbn%20btgw%20zbqc", "50D3F10C2D0CCD6C8602"),
            ("U9", "secret=MFRGGZDFMZTWQ21K", "6162636465666768696A"),
        ])
    func readsSecretDialects(name: String, query: String, hex: String) throws {
        let secret = try #require(try EnrollmentURI.parse("otpauth://totp/X:mira?\(query)").oath?.secret)
        let secretHex: String = secret.withUnsafeBytes {
            $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
        }
        #expect(secretHex == hex)
    }

    @Test(
        "A parameter that is given twice with different values is refused, and its name is in the error",
        arguments: [
            ("secret=AAAA&secret=\(key)&digits=8&digits=zz", "secret"), ("secret=\(key)&digits=6&digits=8", "digits"),
            ("secret=\(key)&digits=8&digits=zz", "digits"), ("secret=\(key)&digits=6&digits=06", "digits"),
            ("secret=\(key)&issuer=X&issuer=Y", "issuer"), ("secret=\(key)&period=30&period=", "period"),
            ("secret=\(key)&algorithm=SHA1&algorithm=SHA256", "algorithm"), ("secret=\(key)&new=1&new=2", "query"),
        ])
    func refusesContradictoryParameter(query: String, part: String) throws {
        let uri = "otpauth://totp/X:mira?\(query)"
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        #expect(error.part == part && error.code == .invalid)
        #expect(!error.description.contains(Self.key))
    }

    @Test("A parameter that is given twice with the same value counts once")
    func readsRepeatedParameter() throws {
        let uri = "otpauth://totp/X:mira?secret=\(Self.key)&issuer=A%20B&issuer=A B&digits=8&digits=8&secret=\(Self.key)"
        let enrollment = try EnrollmentURI.parse(uri)
        #expect(enrollment.account == AccountID(issuer: "A B", accountName: "mira"))
        #expect(enrollment.oath?.digits == .eight)
    }

    @Test(
        "A text with a line break or a second URI inside is refused as a whole",
        arguments: [
            "\nissuer=Y", "&issuer=\nY", "\r\notpauth://totp/Y:noa?secret=AAAAAAAA", "\u{2028}", "\u{85}&digits=8",
            "&period=otpauth://totp/Y:noa?secret=AAAAAAAA", "&period=3OTPAUTH://totp/Y:noa?secret=AAAAAAAA",
            " pushauth://push/Y:noa", "&issuer=mfauth://totp/Y", "&issuer=otpauth-migration://offline?data=",
        ])
    func refusesSeveralURIs(rest: String) throws {
        let uri = "otpauth://totp/X:mira?secret=\(Self.key)\(rest)&digits=6"
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        #expect(error.part == "uri" && error.code == .invalid)
        #expect(throws: EnrollmentError.self) { try EnrollmentURI.parseCodes(uri) }
        #expect(EnrollmentURI.account(namedBy: uri) == AccountID(issuer: "X", accountName: "mira"))
    }

    @Test(
        "An account of Steam is read, whether the issuer and five digits, the encoder or the type says so",
        arguments: [
            "totp/Steam:gordon?secret=\(key)&issuer=Steam&issuer=Steam&digits=5&algorithm=SHA1&period=30",
            "totp/steam:gordon?secret=\(key)&digits=5", "totp/Valve:gordon?secret=\(key)&encoder=steam&digits=5",
            "totp/Valve:gordon?secret=\(key)&encoder=Steam", "totp/Valve:gordon?secret=\(key)&encoder=steam&digits=6&period=30",
            "steam/Valve:gordon?secret=\(key)",
        ])
    func readsSteam(rest: String) throws {
        let enrollment = try EnrollmentURI.parse("otpauth://\(rest)")
        #expect(enrollment.oath == .steam(secret: try Sample.oathSecret))
        #expect(enrollment.account.accountName == "gordon")
        #expect(try EnrollmentURI.parse(EnrollmentURI.print(enrollment)) == enrollment)
        #expect(throws: EnrollmentError.steam) { try enrollment.requireCodesOfOtherSDKs() }
    }

    @Test("The secret of a URI with the scheme steam is an account of Steam without a name", arguments: ["steam", "STEAM"])
    func readsSteamScheme(scheme: String) throws {
        let enrollment = try EnrollmentURI.parse("\(scheme)://\(Self.key)")
        #expect(enrollment.account == AccountID(issuer: "Steam", accountName: "Untitled"))
        #expect(enrollment.oath == .steam(secret: try Sample.oathSecret))
        #expect(try EnrollmentURI.parse(EnrollmentURI.print(enrollment)) == enrollment)
    }

    @Test(
        "An account of Steam with settings that its codes never have, and an unknown encoder, are refused",
        arguments: [
            "otpauth://totp/Valve:gordon?secret=\(key)&encoder=other", "otpauth://hotp/Valve:gordon?secret=\(key)&encoder=steam",
            "otpauth://totp/Valve:gordon?secret=\(key)&encoder=steam&algorithm=SHA256",
            "otpauth://totp/Steam:gordon?secret=\(key)&digits=5&period=60",
        ])
    func refusesUnusualSteam(uri: String) throws {
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        #expect(error.code == .unsupported)
        for rest in ["", "!!!!", "?secret=\(Self.key)"] {
            let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse("steam://\(rest)") }
            #expect(error.code == .invalid && error.part == "secret")
        }
    }

    @Test("Six digits of the issuer Steam, and five digits of another issuer, are ordinary codes")
    func readsOrdinaryCodesLikeSteam() throws {
        for rest in ["totp/Steam:a?secret=\(Self.key)", "totp/Other:a?secret=\(Self.key)&digits=5"] {
            #expect(try EnrollmentURI.parse("otpauth://\(rest)").oath != nil)
        }
    }

    @Test(
        "A colon in an issuer, and a plus sign for a space in it, are read as the label has them",
        arguments: [
            ("Foo%3A%20Bar%3Afrank", "Foo: Bar", "Foo: Bar", "frank"),
            ("Foo%3A%20Bar:frank", "Foo%3A%20Bar", "Foo: Bar", "frank"), ("Foo: Bar:frank", "Foo%3A+Bar", "Foo: Bar", "frank"),
            ("Colon Ltd:corp:mallory", "Colon+Ltd", "Colon Ltd", "corp:mallory"),
            ("Colon%20Ltd%3Acorp%3Amallory", "Colon Ltd", "Colon Ltd", "corp:mallory"),
            ("Acme%20Bank:alice", "Acme+Bank", "Acme Bank", "alice"), ("A+B:alice", "A+B", "A+B", "alice"),
            ("Acme Bank:alice", "Acme%2BBank", "Acme+Bank", "alice"), ("alice", "Acme+Bank", "Acme+Bank", "alice"),
            ("Smith%20%26%20Co:ann", "Smith & Co", "Smith & Co", "ann"), ("A&B:ann", "A&B", "A&B", "ann"),
            ("A/B Corp:grace", "A%2FB+Corp", "A/B Corp", "grace"), ("Old:alice", "New+Name", "New+Name", "alice"),
        ])
    func readsColonAndPlus(label: String, parameter: String, issuer: String, account: String) throws {
        let enrollment = try EnrollmentURI.parse("otpauth://totp/\(label)?secret=\(Self.key)&issuer=\(parameter)")
        #expect(enrollment.account == AccountID(issuer: issuer, accountName: account))
        #expect(try EnrollmentURI.parse(EnrollmentURI.print(enrollment)) == enrollment)
    }

    @Test(
        "The account of a URI that can't be read is named from its label, unless the label may have the secret",
        arguments: [
            ("otpauth://totp/Ten%20Digits:dave?secret=A&digits=10", "Ten Digits", "dave"),
            ("otpauth://totp/dave?secret=A&issuer=Bank&digits=10", "Bank", "dave"),
            ("otpauth://totp/100%:a?c#d?secret=A", "100%", "a"),
            ("otpauth://totp/X:mira?secret=A&digits=1&digits=2", "X", "mira"),
            ("otpauth://totp/alone?issuer=%zz&secret=A", "alone", "alone"),
        ])
    func namesAccountOfUnreadableURI(uri: String, issuer: String, account: String) {
        #expect(EnrollmentURI.account(namedBy: uri) == AccountID(issuer: issuer, accountName: account))
    }

    @Test(
        "A text without a label, or with parameters in it, names no account",
        arguments: [
            "hello", "otpauth://totp/a:AAAA", "otpauth://totp/t=AAAA?digits=6", "otpauth://totp/?secret=A&digits=1&digits=2",
            "otpauth://totp/X:mira&secret=AAAA",
            "otpauth://totp/X:mira%3Fsecret%3DAAAA&digits=1", "otpauth-migration://offline?data=AAAA",
        ])
    func namesNoAccount(text: String) {
        #expect(EnrollmentURI.account(namedBy: text) == nil)
    }

    @Test("A push URI of OpenAM's root realm, whose label says forgerock, is read")
    func readsOpenAMPushURI() throws {
        let u11 = try EnrollmentURI.parse(
            "pushauth://push/forgerock:demo?l=YW1sYmNvb2tpZT0wMQ&issuer=Rm9yZ2VSb2Nr&m=0d0c0b0a-1111-4222-8333-9444555566661735689600000"
                + "&s=\(Sample.pushSecretText)&b=519387&c=\(Sample.challengeText)"
                + "&r=aHR0cHM6Ly9vcGVuYW0uZXhhbXBsZS50ZXN0L29wZW5hbS9qc29uL3B1c2gvc25zL21lc3NhZ2U_X2FjdGlvbj1yZWdpc3Rlcg"
                + "&a=aHR0cHM6Ly9vcGVuYW0uZXhhbXBsZS50ZXN0L29wZW5hbS9qc29uL3B1c2gvc25zL21lc3NhZ2U_X2FjdGlvbj1hdXRoZW50aWNhdGU")
        let invitation = try #require(u11.push)
        #expect(u11.account == AccountID(issuer: "ForgeRock", accountName: "demo"))
        #expect(u11.oath == nil)
        #expect(u11.backgroundColor == "#519387")
        #expect(
            invitation.registrationEndpoint.url == "https://openam.example.test/openam/json/push/sns/message?_action=register")
        #expect(
            invitation.authenticationEndpoint.url
                == "https://openam.example.test/openam/json/push/sns/message?_action=authenticate")
        #expect(invitation.loadBalancerCookie == "amlbcookie=01")
        #expect(invitation.messageID == "0d0c0b0a-1111-4222-8333-9444555566661735689600000")
        #expect(invitation.secret == (try Sample.pushSecret))
        #expect(invitation.challenge == (try Base64.decode(Sample.challengeText)))
    }

    @Test(
        "U12, U14: A combined URI keeps both parts and its policies, whether their base64 contains `_` or not",
        arguments: [
            "eyJiaW9tZXRyaWNBdmFpbGFibGUiOnt9LCJ0YWciOiJhPmI_In0", "eyJiaW9tZXRyaWNBdmFpbGFibGUiOnt9LCJ0YWciOiJhPmI/In0%3D",
            "%7B%22biometricAvailable%22:%7B%7D,%22tag%22:%22a%3Eb%3F%22%7D",
        ])
    func readsCombinedURI(policies: String) throws {
        let uri =
            "mfauth://totp/Harbor:mira?\(Self.push)&s=\(Sample.pushSecretText)&c=\(Sample.challengeText)&l=YW1sYmNvb2tpZT0wMQ"
            + "&m=REGISTER:1&issuer=SGFyYm9y&secret=\(Self.key)&policies=\(policies)"
        let enrollment = try EnrollmentURI.parse(uri)
        #expect(enrollment.policies == ["biometricAvailable": .object([:]), "tag": .string("a>b?")])
        #expect(enrollment.oath != nil)
        #expect(enrollment.push != nil)
    }

    @Test(
        "U13, U15, U17: An error names the missing or invalid part",
        arguments: [
            ("U13", "mfauth://totp/Harbor:mira?secret=\(key)&issuer=SGFyYm9y", "m"),
            ("U15", "otpauth://totp/X:mira?secret=\(key)&period=0", "period"),
            ("U17", "pushauth://push/X:mira?\(push)&c=\(Sample.challengeText)&m=x", "s"),
        ])
    func namesInvalidPart(name: String, uri: String, part: String) throws {
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        #expect(error.part == part)
    }

    @Test(
        "White space around a URI, a trailing `&` and unknown parameters are accepted",
        arguments: [
            " otpauth://totp/X:mira?secret=\(key) ", "\n\totpauth://totp/X:mira?secret=\(key)\r\n",
            "otpauth://totp/X:mira?secret=\(key)&", "otpauth://totp/X:mira?&&secret=\(key)&lock&new=%F0%9F%9A%80",
            "otpauth://totp//X:mira/?secret=\(key)", "otpauth://totp/X%3Amira?secret=\(key)",
            "otpauth://totp/X:%20mira?secret=\(key)",
            "OtpAuth://tOtP/X:mira?secret=\(key)#fragment", "otpauth://totp/X:mira?secret=\(key)&issuer=",
            "otpauth://totp/X:mira?secret=\(key)&version=1&counter=5",
        ])
    func toleratesWhiteSpaceAndUnknownParameters(uri: String) throws {
        let enrollment = try EnrollmentURI.parse(uri)
        #expect(enrollment == Enrollment(account: enrollment.account, oath: OATHSettings(secret: try Sample.oathSecret)))
        #expect(enrollment.account == AccountID(issuer: "X", accountName: "mira"))
    }

    @Test("A plus sign stays a plus sign, and %26 does not end a value")
    func readsEscapes() throws {
        let enrollment = try EnrollmentURI.parse("otpauth://totp/a+b:c%2Bd%2F?secret=\(Self.key)&issuer=A%26B+C%3D")
        #expect(enrollment.account == AccountID(issuer: "A&B+C=", accountName: "c+d/"))
    }

    @Test(
        "A color may begin with an unescaped number sign; any other number sign begins a fragment",
        arguments: [
            ("b=#519387&issuer=Bell", "#519387", "Bell"), ("issuer=Bell&b=#519387", "#519387", "Bell"),
            ("b=#519387#issuer=Bell", "#519387", "X"), ("issuer=Bell#&b=#519387", nil, "Bell"),
            ("bb=#519387&issuer=Bell", nil, "X"), ("b=#&issuer=Bell", nil, "Bell"), ("b=##519387&issuer=Bell", nil, "X"),
            ("#b=#519387&issuer=Bell", nil, "X"),
        ] as [(String, String?, String)])
    func readsUnescapedColorSign(query: String, color: String?, issuer: String) throws {
        let key = Self.key
        let enrollment = try EnrollmentURI.parse("otpauth://totp/X:mira?secret=\(key)&\(query)")
        #expect(enrollment.backgroundColor == color)
        #expect(enrollment.account.issuer == issuer)
    }

    @Test("A color with a number sign may be the first parameter, and is written without the sign")
    func colorSignInFirstParameter() throws {
        let enrollment = try EnrollmentURI.parse("otpauth://totp/X:mira?b=#519387&secret=\(Self.key)&issuer=Bell")
        #expect(enrollment.backgroundColor == "#519387" && enrollment.account.issuer == "Bell")
        #expect(try EnrollmentURI.parse(EnrollmentURI.print(enrollment)) == enrollment)
        #expect(throws: EnrollmentError.self) {
            try EnrollmentURI.parse("otpauth://totp/X:mira&b=#519387?secret=\(Self.key)")
        }
    }

    @Test(
        "A push URI's issuer, user and image may be base64 or plain text",
        arguments: [
            ("issuer", "SGFyYm9yIEJhbms", "Harbor Bank"), ("issuer", "SGFyYm9yIEJhbms=", "Harbor Bank"),
            ("issuer", "Harbor%20Bank", "Harbor Bank"), ("issuer", Sample.base64URL("Zürich?>"), "Zürich?>"),
            ("uid", Sample.base64URL("user-7f3a"), "user-7f3a"), ("uid", "user-7f3a", "user-7f3a"),
            ("d", "user-7f3a", "user-7f3a"),
            ("image", "https://cdn.example.test/a.png", "https://cdn.example.test/a.png"),
            ("image", Sample.base64URL("https://cdn.example.test/a.png"), "https://cdn.example.test/a.png"),
            ("b", "336699", "#336699"), ("b", "%23336699", "#336699"),
        ])
    func readsPlainOrBase64Parts(parameter: String, value: String, meaning: String) throws {
        let enrollment = try EnrollmentURI.parse(Sample.pushURI(changing: [parameter: value]))
        let found =
            switch parameter {
            case "issuer": enrollment.account.issuer as String?
            case "image": enrollment.imageURL
            case "b": enrollment.backgroundColor
            default: enrollment.userID
            }
        #expect(found == meaning)
    }
}
