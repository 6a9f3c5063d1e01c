import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Languages of pages, nodes and emails")
struct LanguageTests {
    private static let file = """
        server: {defaultLanguage: fr}
        users: [{name: mira, password: correct horse}]
        clients: [{id: shop, name: The <Shop>, redirectURIs: ["http://127.0.0.1/cb"]}]
        languages:
          de:
            signIn: Anmelden <jetzt>
            requestRefused: Abgelehnt
            toContinue: Weiter zu {client}
            nodeUserName: Benutzername
            wrongCredentials: Name oder Passwort ist falsch.
            notSignedIn: Nicht angemeldet
            youAreNotSignedIn: Sie sind nicht angemeldet
            policyMinLength: Mindestens {value} Zeichen.
            emailLinkTitle: Weiter bei {issuer}
          fr: {youAreNotSignedIn: "Vous n'êtes pas connecté"}
          ar: {youAreNotSignedIn: لم تسجل الدخول}
        journeys:
          Login:
            nodes:
              page:
                type: PageNode
                nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}]
                stage: '{"themeId":"1","submitButtonText":{"en":"Go","nl":"Verder"}}'
                pageDescription: {en: Welcome, de_DE: "Willkommen & hallo", fr: Bienvenue}
                outcomes: {outcome: password}
              password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}
          Mail:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
              email: {type: EmailSuspendNode, emailSuspendMessage: {nl: Kijk, de: Nachsehen}, outcomes: {outcome: success}}

        """

    private static func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(try ServerConfiguration(yaml: file), body)
    }

    @Test("The login page has the language of ui_locales in the authorization request, and escapes its sentences")
    func readsUILocales() async throws {
        try await Self.run { server in
            let request =
                "/am/oauth2/authorize?response_type=code&client_id=shop&scope=openid&ui_locales=it%20de-AT"
                + "&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcb&code_challenge=\(String(repeating: "a", count: 43))"
                + "&code_challenge_method=S256"
            let browser = PageBrowser(server)
            let page = try await browser.get(request)
            #expect(page.text.contains("<html lang=\"de\">"))
            #expect(page.text.contains("Weiter zu The &lt;Shop&gt;") && page.text.contains("<h1>Anmelden &lt;jetzt&gt;</h1>"))
            #expect(page.text.contains(">Benutzername</label>") && page.text.contains(">Password</label>"))
            #expect(page.text.contains("Willkommen &amp; hallo"))
            let failed = try await browser.signIn(page, password: "wrong")
            #expect(failed.heading == "Nicht angemeldet" && failed.text.contains("Name oder Passwort ist falsch."))
            #expect(failed.text.contains("Try again"), "a missing sentence is English")
        }
    }

    /// The fields of an authorization request that a form contains.
    private static let form: [String: String?] = [
        "response_type": "code", "client_id": "shop", "scope": "openid", "ui_locales": "it de-AT", "prompt": "consent",
        "redirect_uri": "http://127.0.0.1/cb", "code_challenge": String(repeating: "a", count: 43),
        "code_challenge_method": "S256",
    ]

    @Test("The pages of a request in a form have the language of its ui_locales", arguments: [true, false])
    func readsUILocalesOfForm(isSignedIn: Bool) async throws {
        try await Self.run { server in
            let browser = PageBrowser(server)
            if isSignedIn { _ = try await browser.signIn(try await browser.get(LoginPageTests.xui)) }
            let page = try await browser.post("/am/oauth2/authorize", Self.form)
            #expect(page.text.contains("<html lang=\"de\">"))
            #expect(page.text.contains(isSignedIn ? "Allow The &lt;Shop&gt;?" : "Weiter zu The &lt;Shop&gt;"))
            let session = browser.cookies["iPlanetDirectoryPro"] ?? ""
            let logout = try await server.postForm(
                "connect/endSession", ["ui_locales": "de"],
                headers: ["Accept": "text/html,application/xhtml+xml", "Cookie": "iPlanetDirectoryPro=\(session)"])
            if isSignedIn { #expect(logout.heading == "Sign out?" && logout.text.contains("<html lang=\"de\">")) }
        }
    }

    /// Requests whose error is a page.
    static let refused: [(endpoint: String, fields: [String: String?])] = [
        ("authorize", form.merging(["redirect_uri": "http://127.0.0.1/other"]) { $1 }),
        ("connect/endSession", ["id_token_hint": "none"]),
    ]

    @Test("The page with the error of a request in a form has the language of its ui_locales", arguments: refused)
    func localizesErrorOfForm(endpoint: String, fields: [String: String?]) async throws {
        try await Self.run { server in
            let headers = ["Accept": "text/html,application/xhtml+xml"]
            for (language, title) in [("de", "Abgelehnt"), ("en", "Request refused")] {
                let asked = fields.merging(["ui_locales": language]) { $1 }
                let page = try await server.postForm(endpoint, asked, headers: headers)
                #expect(page.status == 400 && page.heading == title && page.text.contains("<html lang=\"\(language)\">"))
            }
        }
    }

    @Test(
        "A page has the best language of ui_locales, then of Accept-Language, then that of the configuration",
        arguments: [
            ("", nil, "fr"), ("", "de;q=0.5, en;q=0.8", "en"), ("", "en;q=0.5, de-CH", "de"), ("", "it, *;q=0.1", "fr"),
            ("?ui_locales=de", "en", "de"), ("?ui_locales=it", "en", "en"), ("", "de;q=0", "fr"),
            ("", "ar-EG", "ar\" dir=\"rtl"), ("?ui_locales=%22%3E%3Cb%3E", "en", "en"),
        ])
    func choosesLanguage(query: String, accepted: String?, language: String) async throws {
        try await Self.run { server in
            let headers = accepted.map { ["Accept-Language": $0] } ?? [:]
            let page = try await server.send(.get, "/am/XUI/session\(query)", headers: headers)
            #expect(page.text.contains("<html lang=\"\(language)\">"))
            let headings = [
                "de": "Sie sind nicht angemeldet", "en": "You are not signed in", "fr": "Vous n&#39;êtes pas connecté",
            ]
            if let heading = headings[language] { #expect(page.heading == heading) }
        }
    }

    @Test(
        "A node sends the text in the language of the client, the standard language, or the first one",
        arguments: [
            ("de-DE", "Willkommen & hallo"), ("de", "Willkommen & hallo"), ("fr-CA, de", "Bienvenue"), ("it", "Bienvenue"),
        ])
    func sendsTextOfNode(accepted: String, text: String) async throws {
        try await Self.run { server in
            let step = try await server.send(
                .post, "/am/json/realms/root/authenticate",
                headers: ["Accept-Language": accepted, "Content-Type": "application/json"], body: "{}"
            ).step
            #expect(step.description == text)
            #expect(step.callbacks.first?.output("prompt") == "User Name", "standard texts are English on the wire")
        }
    }

    @Test("The button of a page has the text of its stage", arguments: [("nl-BE", "Verder"), ("de", "Go")])
    func readsButtonOfStage(accepted: String, label: String) async throws {
        try await Self.run { server in
            let page = try await PageBrowser(server).get("\(LoginPageTests.xui)&ui_locales=\(accepted)")
            #expect(page.text.contains(">\(label)</button>"))
        }
    }

    @Test("An email is in the language of the request that causes it")
    func sendsEmailInLanguage() async throws {
        try await Self.run { server in
            let headers = ["Accept-Language": "de", "Content-Type": "application/json"]
            let address = "/am/json/realms/root/authenticate"
            var step = try await server.send(
                .post, "\(address)?authIndexType=service&authIndexValue=Mail", headers: headers, body: "{}"
            ).step
            step.fill("NameCallback", "mira")
            let body = JSON.text(of: try JSON.value(of: JSON.encode(step)))
            let suspended = try await server.send(.post, address, headers: headers, body: body).step
            #expect(suspended.callbacks.first?.output("message") == "Nachsehen")
            let email = try await server.devServer.context.store.read { tx in try tx.emails.newest(1).first?.message }
            #expect(email?.subject == "Weiter bei Signet" && email?.html.contains("<html lang=\"de\">") == true)
        }
    }

    @Test("The English instructions for rules are those of the client library")
    func agreesOnPolicies() throws {
        let plain = [
            "REQUIRED", "UNIQUE", "MATCH_REGEXP", "VALID_QUERY_FILTER", "VALID_ARRAY_ITEMS", "VALID_DATE",
            "VALID_EMAIL_ADDRESS_FORMAT", "VALID_NAME_FORMAT", "VALID_PHONE_FORMAT", "VALID_NUMBER", "SOMETHING_ELSE",
            "MINIMUM_NUMBER_VALUE", "MAXIMUM_NUMBER_VALUE",
        ].map { JSONValue.string($0) }
        let parameters: [(String, String, JSONValue)] = [
            ("MIN_LENGTH", "minLength", .integer(8)), ("MAX_LENGTH", "maxLength", .integer(8)),
            ("AT_LEAST_X_CAPITAL_LETTERS", "numCaps", .integer(1)), ("AT_LEAST_X_CAPITAL_LETTERS", "numCaps", .integer(2)),
            ("AT_LEAST_X_NUMBERS", "numNums", .integer(1)), ("AT_LEAST_X_NUMBERS", "numNums", .integer(2)),
            ("VALID_TYPE", "types", .texts(["string", "null"])), ("MINIMUM_NUMBER_VALUE", "minimum", .integer(1)),
            ("MAXIMUM_NUMBER_VALUE", "maximum", .integer(1)),
            ("CANNOT_CONTAIN_CHARACTERS", "forbiddenChars", .texts(["/", "{value}"])),
            ("CANNOT_CONTAIN_DUPLICATES", "duplicateValue", "a"), ("CANNOT_CONTAIN_OTHERS", "disallowedFields", "mail"),
        ]
        let others = parameters.map { name, parameter, value in
            JSONValue.object(["policyRequirement": .string(name), "params": .object([parameter: value])])
        }
        for value in plain + others + [.integer(1)] {
            #expect(PageLanguage.english.instruction(for: value) == PolicyRequirement.sentence(for: value))
        }
        let german = try ServerConfiguration(yaml: Self.file).languages.first { $0.tag.text == "de" }
        #expect(german?.instruction(for: others[0]) == "Mindestens 8 Zeichen.")
    }

    @Test(
        "A tag is read in its usual case, and another text is refused",
        arguments: [
            ("DE", "de"), ("pt-br", "pt-BR"), ("zh-hant-tw", "zh-Hant-TW"), ("de-1996", "de-1996"), ("x", nil), ("", nil),
            ("de-", nil), ("12", nil), ("deutschland", nil), ("de_DE", nil), ("d\u{e9}", nil),
        ] as [(String, String?)])
    func readsTag(text: String, normal: String?) {
        #expect(LanguageTag(text)?.text == normal)
    }

    @Test("Every sentence has an English text, and names only placeholders in braces")
    func sentencesAreComplete() {
        for text in PageText.allCases {
            #expect(text.english != text.rawValue, "\(text.rawValue)")
            let values = Dictionary(text.placeholders.map { ($0, "{x}") }, uniquingKeysWith: { first, _ in first })
            let filled = PageText.filled(text.english, values)
            #expect(PageText.placeholders(in: filled).isSubset(of: ["x"]))
        }
        #expect(PageText.filled("{a} and {b} {", ["a": "{b}", "b": "c"]) == "{b} and c {")
    }

    @Test(
        "A mistake in the section languages is reported at its place",
        arguments: [
            ("languages:\n  de:\n    singIn: Anmelden\n", "3:5 unknownSetting"),
            ("languages:\n  deutsch!: {signIn: Anmelden}\n", "2:3 invalidValue"),
            ("languages:\n  de: {toContinue: \"Weiter zu {clint}\"}\n", "2:20 unknownName"),
            ("languages:\n  de: {signIn: [Anmelden]}\n", "2:16 wrongType"), ("languages: [de]\n", "1:12 wrongType"),
            ("languages:\n  de: {signIn: a}\n  DE: {signIn: b}\n", "3:3 duplicate"),
            ("server: {defaultLanguage: \"?\"}\n", "1:27 invalidValue"),
            ("languages:\n  de: {signIn: \"\"}\n", "2:16 invalidValue"),
        ])
    func reportsMistakesInLanguages(yaml: String, problem: String) throws {
        var problems: [ConfigurationProblem] = []
        do {
            _ = try ServerConfiguration(yaml: yaml)
        } catch {
            problems = error.problems
        }
        let found = problems.map { "\($0.position) \($0.code.rawValue)" }
        #expect(found == [problem])
    }
}
