import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Answers to the callbacks of a journey")
struct LoginAnswerTests {
    /// Journeys of the development server after name and password, the answers that each needs, and the lines of standard input
    /// after the password.
    static let journeys: [(journey: String, answers: [String], input: String)] = [
        ("Login", [], ""), ("TextInputCallback", ["nickname=Mi"], ""), ("TextInputCallback", ["TextInputCallback=-"], "Mi\n"),
        ("ChoiceCallback", ["choice=2"], ""), ("ChoiceCallback", ["second factor=Push"], ""),
        ("ChoiceCallback", ["choice=-"], "sms\n"),
        ("ConfirmationCallback", ["confirmation=1"], ""), ("TextOutputCallback", [], ""), ("HiddenValueCallback", [], ""),
        ("PollingWaitCallback", [], ""), ("PollingWaitCallback", ["confirmation=Skip"], ""), ("MetadataCallback", [], ""),
        ("ConsentMappingCallback", ["consent=yes"], ""), ("ValidatedCreateUsernameCallback", ["username=mira"], ""),
        ("ValidatedCreatePasswordCallback", ["password=-"], "correct horse\n"),
        ("StringAttributeInputCallback", ["mail=mira@example.test"], ""), ("NumberAttributeInputCallback", ["age=33"], ""),
        ("BooleanAttributeInputCallback", ["updates=no"], ""), ("TermsAndConditionsCallback", ["terms=yes"], ""),
        ("SelectIdPCallback", ["provider=localAuthentication"], ""), ("IdPCallback", ["token=-", "tokentype=1"], "abc\n"),
        ("RedirectCallback", ["address=-"], "https://app.example.test/cb?code=c&state=s-1\n"), ("DeviceProfileCallback", [], ""),
        ("AppIntegrityCallback", [], ""), ("ReCaptchaCallback", ["captcha=proof"], ""),
        ("ReCaptchaEnterpriseCallback", ["captcha=proof"], ""), ("PingOneProtectInitializeCallback", [], ""),
        ("PingOneProtectEvaluationCallback", [], ""), ("NovelCallback", [], ""), ("NovelCallback", ["NovelCallback=x"], ""),
    ]

    @Test("signet login answers every callback type without a terminal")
    func answersEveryCallback() async throws {
        try await LoginTests.withServer { server, cli in
            for (journey, answers, input) in Self.journeys {
                let known = server.credentials
                let login = try await cli.start(
                    ["login", server.url, "--force", "--journey", journey, "--profile", "\(journey)"] + known.arguments
                        + answers.flatMap { ["--answer", $0] }, input: .text(known.input + input)
                ).end()
                #expect(login.status == 0, "\(journey) \(answers): \(login.errors)")
                #expect(!login.errors.contains("The server did not ask for"), "\(journey)")
            }
        }
    }

    @Test("A new user registers with attributes, a security question and terms, and answers the question later")
    func registersNewUser() async throws {
        try await LoginTests.withServer { server, cli in
            let answers = [
                "username=mira", "password=-", "givenName=Mira", "mail=mira@example.test", "question=a question of my own",
                "ownquestion=Whose boat?", "answer=-", "terms=yes",
            ]
            let login = try await cli.start(
                ["login", server.url, "--journey", "Registration"] + answers.flatMap { ["--answer", $0] },
                input: .text("Correct horse 1\nmine\n")
            ).end()
            #expect(login.status == 0, "\(login.errors)")
            #expect(login.errors.contains("Sign Up"))
        }
    }

    @Test("A secret given as an argument is refused before anything is sent, and is not repeated")
    func refusesSecretArguments() async throws {
        try await LoginTests.withServer { server, cli in
            for name in [
                "password", "Password", "one time password", "link", "code", "Recovery Code", "verification-code", "OTP", "PIN",
                "password2",
            ] {
                let outcome = try await cli.signet(
                    "login", "http://127.0.0.1:1/am", "--answer", "\(name)=hunter2")
                outcome.fails(64, "--answer \(name)=-")
                #expect(!outcome.errors.contains("hunter2"))
            }
            // A name that is known to be secret only when the server asks for it.
            let outcome = try await cli.signet(
                "login", server.url, "--answer", "name=demo", "--answer", "PasswordCallback=hunter2")
            outcome.fails(64, "'Password'", "--answer PasswordCallback=-")
            #expect(!outcome.errors.contains("hunter2"))
        }
    }

    @Test("A one-time code is treated as a secret, whichever callback asks for it and whichever name answers it")
    func treatsCodesAsSecrets() async throws {
        try await LoginTests.withServer { server, cli in
            // The server asks for the code of a new authenticator in a name callback.
            let known = server.credentials
            for name in ["name", "NameCallback", "IDToken1"] {
                let outcome = try await cli.start(
                    ["login", server.url, "--journey", "OATHRegistration"] + known.arguments
                        + ["--answer", "\(name)=123456"], input: .text(known.input)
                ).end()
                outcome.fails(64, "'Enter verification code'", "--answer \(name)=-")
                #expect(!outcome.errors.contains("123456"))
            }
            let missing = try await server.logIn(cli, "--journey", "OATHRegistration")
            missing.fails(64, "--answer code=-")
            #expect(!missing.errors.contains("code=VALUE"))
        }
    }

    @Test(
        "The words of a prompt decide whether it asks for a one-time code",
        arguments: [
            ("Enter verification code", true), ("One Time Password:", true), ("Recovery Code", true), ("OTP", true),
            ("Your PIN", true), ("Einmalpasswort", true), ("User Name", false), ("Shipping address", false), ("Nickname", false),
            ("Opinion", false), ("Tangent", false),
        ])
    func recognizesCodePrompts(prompt: String, isCode: Bool) {
        #expect(prompt.asksForOneTimeCode == isCode)
    }

    @Test("A line of standard input that is too long is refused with that reason")
    func refusesLongInputLine() async throws {
        try await LoginTests.withServer { server, cli in
            let known = server.credentials
            let long = String(repeating: "x", count: 70_000) + "\n"
            try await cli.start(["login", server.url] + known.arguments, input: .text(long)).end().fails(
                65, "a line of standard input is longer than 64 KiB")
        }
    }

    @Test(
        "A malformed --answer exits with 64 and is not repeated",
        arguments: ["hunter2", "", "=hunter2"])
    func refusesMalformedAnswer(answer: String) async throws {
        try await CommandLineFixture.with { cli in
            let outcome = try await cli.signet("login", "http://127.0.0.1:1/am", "--answer", answer)
            outcome.fails(64, "NAME=-")
            #expect(!outcome.errors.contains("hunter2"))
        }
    }

    @Test("A missing answer exits with 64 and shows the option; an answer that is not offered exits with 65")
    func reportsMissingAnswer() async throws {
        try await LoginTests.withServer { server, cli in
            try await cli.signet("login", server.url).fails(64, "'User Name'", "--answer name=-", "--answer name=VALUE")
            let half = try await cli.signet("login", server.url, "--answer", "name=demo", "--json")
            half.fails(64, "'Password'", "--answer password=-")
            #expect(!half.errors.contains("password=VALUE") && half.jsonError?["part"]?.string == "password")
            try await cli.signet("login", server.url, "--answer", "name=demo", "--answer", "password=-").fails(
                64, "standard input ended", "'Password'")
            try await server.logIn(cli, "--journey", "ChoiceCallback", "--answer", "choice=Fax").fails(
                65, "'Second factor'", "'SMS'")
            try await server.logIn(cli, "--journey", "ChoiceCallback", "--answer", "choice=4").fails(65, "'Second factor'")
            let spare = try await server.logIn(cli, "--answer", "color=red").succeeds()
            #expect(spare.errors.contains("The server did not ask for: color"))
        }
    }

    @Test("Answer names match in any case, and each answers one callback, the exact name first")
    func matchesAnswerNames() {
        var answers = Answers(["User Name=a", "username=b", "name=-", "name=c"].map { AnswerOption(argument: $0) })
        let question = Question(prompt: "User Name:", names: ["name", "username"])
        let line = answers.take(question)
        #expect(line?.name == "name" && line?.value == nil)
        let laterValues = (0..<3).map { _ in answers.take(question)?.value }
        #expect(laterValues == ["c", "a", "b"])
        #expect(answers.take(question) == nil)
        answers = Answers([AnswerOption(argument: "color=red")])
        #expect(answers.take(question) == nil && answers.unused == ["color"])
        #expect(AnswerOption(argument: "a=b=c").value == "b=c" && AnswerOption(argument: "a=").value == "")
    }
}
