import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("Enrollment from the pages of an OpenAM")
struct OpenAMEnrollmentTests {
    private static let user = ["name=bob", "password=-"]
    private static let password = OpenAMPageTests.password + "\n"

    /// The pages of OpenAM's OATH registration (second-factors 1 to 4 and 14 to 17), with the URI in the script only.
    static func oath(_ uri: String) -> [PagedOpenAM.Page] {
        let scan = "\n            Scan the barcode image below with the ForgeRock Authenticator App.\n        "
        return [
            PagedOpenAM.login,
            .init(
                header: "Authenticator (OATH)", callbacks: [PagedOpenAM.confirmation(["Register device", "Skip this step"], 1)]),
            .init(
                header: "Register your device with OpenAM",
                callbacks: [
                    PagedOpenAM.text(scan), PagedOpenAM.drawing(uri),
                    PagedOpenAM.confirmation(["Login using verification code"], 3),
                ]),
            .init(
                header: "Authenticator (OATH)", infoText: [""],
                callbacks: [
                    PagedOpenAM.name("Enter verification code:", 1), PagedOpenAM.confirmation(["Submit", "Skip this step"], 2),
                ]),
        ]
    }

    static let totp = "otpauth://totp/LabAM:bob?secret=F3NALYPBO3NJJJEEKYXVQKA3VQ======&issuer=LabAM&digits=6&period=30"
    static let hotp = "otpauth://hotp/LabAM:carol?secret=XBQ5JTLZ2P7M23OXYRY6PGV6XY======&issuer=LabAM&digits=6&counter=0"

    /// The recorded URIs, the account of each, and the first code; nil for a code that depends on the time.
    static let enrollments: [(uri: String, account: String, code: String?)] = [(totp, "bob", nil), (hotp, "carol", "961068")]

    @Test("C3: signet login --enroll enrolls an account whose URI OpenAM has in a script only", arguments: enrollments)
    func enrollsFromScript(uri: String, account: String, code: String?) async throws {
        let server = try PagedOpenAM(Self.oath(uri))
        try await CommandLineFixture.with { cli in
            let answers = Self.user + ["confirmation=1", "confirmation=1", "confirmation=1", "code=-"]
            let login = try cli.start(
                ["login", server.url, "--enroll"] + answers.flatMap { ["--answer", $0] }, input: .open)
            login.type(Self.password)
            let errors = try await login.waitForOutput { _, errors in errors.contains("Enrolled LabAM: \(account)") }.errors
            let isHidden = !errors.contains("otpauth://")
            #expect(isHidden)
            let shown = try await cli.signet("code", account).succeeds().line
            login.type(shown + "\n")
            login.closeInput()
            try await login.end().succeeds()
            #expect(server.inputs(ofPage: 3)["IDToken1"] == .string(shown))
            if let code { #expect(shown == code) }
            #expect(try await cli.accounts().first?["issuer"]?.string == "LabAM")
        }
    }

    /// The pages of OpenAM's push registration (second-factors 8 to 13), with the URI in the script only.
    private static func push(_ url: String) -> [PagedOpenAM.Page] {
        func address(_ action: String) -> String {
            Base64.encode(Array("\(url)/json/push/sns/message?_action=\(action)".utf8), as: .url)
        }
        let uri =
            "pushauth://push/forgerock:bob?a=\(address("authenticate"))&image=aHR0cDovL2V4YW1wbGUuY29tL2ltYWdlLnBuZw&b=519387"
            + "&r=\(address("register"))&s=MhGjI7AuALWTLW73CcHw5yjyvzZLFFnMNY9O1gF-lf8&c=NEZNB2bNBsJyeWXmBsTFmCVycbss-SCWngO8_c7J-YA"
            + "&l=YW1sYmNvb2tpZT0wMQ&m=2a5f5edc-d67a-47df-ac26-fab45fa945641795362999836&issuer=TGFiQU0"
        let page = PagedOpenAM.Page(
            header: "Register your device with OpenAM",
            callbacks: [PagedOpenAM.text("Scan it"), PagedOpenAM.drawing(uri), PagedOpenAM.wait(milliseconds: 200)])
        return [
            PagedOpenAM.login,
            .init(
                header: "Authenticator (Push) Registration",
                callbacks: [PagedOpenAM.confirmation(["Register Device", "Get the App"], 1)]),
            page, page,
        ]
    }

    @Test("C3: signet login --enroll registers for push at OpenAM, once for a page that is repeated while it waits")
    func registersForPush() async throws {
        let server = try PagedOpenAM { Self.push($0) }
        try await CommandLineFixture.with { cli in
            let login = try await OpenAMPageTests.logIn(
                cli, server, Self.user + ["confirmation=1"], options: ["--enroll"], input: Self.password)
            try login.succeeds()
            #expect(login.errors.contains("Enrolled LabAM: bob"))
            #expect(server.registrations.count == 1)
            let message = server.registrations.first.flatMap { try? JSON.value(of: $0.utf8)["messageId"]?.string }
            #expect(message == "2a5f5edc-d67a-47df-ac26-fab45fa945641795362999836")
            #expect(try await cli.accounts().first?["account"]?.string == "bob")
        }
    }

    // MARK: Accounts that the vault has

    /// A journey whose only page offers an account, with the URI in the script only.
    private static func offering(_ uri: String) throws -> PagedOpenAM {
        try PagedOpenAM([.init(header: "Scan", callbacks: [PagedOpenAM.drawing(uri)])])
    }

    private static let oldTOTP = "otpauth://totp/LabAM:bob?secret=\(OATHSample.secretText)&issuer=LabAM&digits=8"

    /// The number of digits of each mechanism in the vault, by the name of its account.
    private func digits(_ cli: CommandLineFixture) async throws -> [String: [Int64?]] {
        var digits: [String: [Int64?]] = [:]
        for account in try await cli.accounts() {
            let mechanisms = account["mechanisms"]?.array ?? []
            digits[account["account"]?.string ?? ""] = mechanisms.map { $0["digits"]?.lenientInteger }
        }
        return digits
    }

    @Test("C10: signet login --enroll for an account that the vault has exits with 73 and names the options of login")
    func refusesKnownAccount() async throws {
        let server = try Self.offering(Self.totp)
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", Self.oldTOTP).succeeds()
            let login = try await OpenAMPageTests.logIn(cli, server, [], options: ["--enroll"])
            login.fails(73, "LabAM: bob has a totp mechanism already", "'signet login --enroll --replace'", "--rename")
            #expect(!login.errors.contains("signet enroll"))
            #expect(try await digits(cli) == ["bob": [8]])
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("C10: signet login --enroll --replace --yes replaces the codes of an account, and --rename keeps both")
    func replacesOrRenames() async throws {
        let server = try Self.offering(Self.totp)
        let expected: [(options: [String], name: String, accounts: [String: [Int64?]])] = [
            (["--replace", "--yes"], "bob", ["bob": [6]]), (["--rename"], "bob (2)", ["bob": [8], "bob (2)": [6]]),
        ]
        for (options, name, accounts) in expected {
            try await CommandLineFixture.with { cli in
                try await cli.signet("enroll", Self.oldTOTP).succeeds()
                let login = try await OpenAMPageTests.logIn(cli, server, [], options: ["--enroll"] + options)
                try login.succeeds()
                #expect(login.errors.contains("Enrolled LabAM: \(name) in this vault."))
                #expect(try await digits(cli) == accounts)
            }
        }
    }

    @Test("C10: signet login --enroll --rename refuses a secret that the vault has, without advice that does not help")
    func refusesKnownSecret() async throws {
        let server = try Self.offering(Self.totp)
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", Self.totp).succeeds()
            let login = try await OpenAMPageTests.logIn(cli, server, [], options: ["--enroll", "--rename"])
            login.fails(73, "LabAM: bob has a totp mechanism already")
            #expect(!login.errors.contains("--replace"))
        }
    }

    @Test("C10: signet login --enroll --replace without a terminal and without --yes exits with 77 and changes nothing")
    func replacesByLoginOnlyWithTerminalOrYes() async throws {
        let server = try Self.offering(Self.totp)
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", Self.oldTOTP).succeeds()
            let accounts = try await cli.accounts()
            let login = try await OpenAMPageTests.logIn(cli, server, [], options: ["--enroll", "--replace"])
            login.fails(77, "LabAM: bob", "totp", "can't be undone", "--yes")
            #expect(server.inputs(ofPage: 0).isEmpty)
            #expect(try await cli.accounts() == accounts)
            try await cli.signet("token").fails(77, "no user is logged in here")
        }
    }

    @Test("C10: signet login --enroll --replace asks nothing where nothing is replaced")
    func loginAsksNothingWithoutReplacement() async throws {
        let server = try Self.offering(Self.totp)
        try await CommandLineFixture.with { cli in
            let login = try await OpenAMPageTests.logIn(cli, server, [], options: ["--enroll", "--replace"])
            try login.succeeds()
            #expect(login.errors.contains("Enrolled LabAM: bob in this vault."))
            #expect(try await digits(cli) == ["bob": [6]])
        }
    }

    @Test(
        "C10: signet login --enroll --replace at a terminal replaces codes only when the user types 'yes'",
        .enabled(if: Programs.missing(["script"]).isEmpty, "script(1) is not installed"),
        arguments: [("yes", 0 as Int32), ("no", 77)])
    func loginConfirmsReplacement(answer: String, exit: Int32) async throws {
        let server = try Self.offering(Self.totp)
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", Self.oldTOTP).succeeds()
            let process = try cli.startAtTerminal(["login", server.url, "--enroll", "--replace"])
            try await process.waitForOutput { output, _ in output.contains("Type 'yes' to replace it:") }
            #expect(process.soFar.output.contains("This replaces in LabAM: bob: totp, enrolled "))
            process.type("\(answer)\n")
            #expect(await process.end().status == exit)
            #expect(try await digits(cli) == ["bob": [exit == 0 ? 6 : 8]])
        }
    }

    /// Journeys without an enrollment, and a word of the error's reason.
    static let fruitless: [(pages: [PagedOpenAM.Page], word: String)] = [
        ([], "offered no account;"), ([PagedOpenAM.login], "offered no account;"),
        ([.init(header: "Q", callbacks: [PagedOpenAM.text("data:image/png;base64,iVBORw0KGgo=")])], "a picture was not read"),
    ]

    @Test(
        "C3: The option --enroll that found no account keeps the login, says what to do and exits with 66", arguments: fruitless)
    func reportsMissingEnrollment(pages: [PagedOpenAM.Page], word: String) async throws {
        let server = try PagedOpenAM(pages)
        try await CommandLineFixture.with { cli in
            for options in [["--enroll"], ["--enroll", "--json"]] {
                let login = try await OpenAMPageTests.logIn(
                    cli, server, pages.first?.header == "Q" ? [] : Self.user,
                    options: options + ["--profile", "p\(options.count)"],
                    input: Self.password)
                #expect(login.status == 66, "\(login.errors)")
                for text in ["--enroll enrolled nothing", word, "--journey", "--force", "'signet enroll'"] {
                    #expect(login.errors.contains(text))
                }
                let isKept = options.count == 1 ? login.output.contains("Logged in") : login.json["session"]?.bool == true
                #expect(isKept)
            }
            #expect(try await cli.accounts().isEmpty)
        }
    }

    // MARK: Pictures

    /// The picture of OpenAM's QR module, as recorded (authenticate 23).
    private static let recordedPicture = """
        iVBORw0KGgoAAAANSUhEUgAAASwAAAEsAQAAAABRBrPYAAADdUlEQVR4Xu2ZS47iQBBEE7HwkiP4JnAxJJB8MfomPgJLLxA58aKMmrZamllWai\
        ip3bjqsUjlLyqJ/Jd1j+3Or+uDbdYH26wPtlndY3NE7HO4HTKHr3zE8Iz9nF/3y7zoBKJ/TH/TPOhlhIU4j/kUsZzaaf/YEocph8xr6PAyDxBx\
        PDxiOWJzFQxL93bWuOzul9SePpXCMk4Qp7uM3MlteQuxZbAk3rS/TxnJQ69x5PXUTvvHZNx+Xo7y2PZB4FXAXousJ+jkOyeP/bSedI7JUvYVYH\
        KRPinyrpQwVWGXsAqYAowMd/sg9bUdtA/Fmx4VMJKbNKfY7mSaMT1Uhb+oxwUwJfwBc+9nNw2an1NfHkv19BKY3qbE0lZ79Xod3QFlqSpaBSzc\
        7YKUoZEgQUbHmytaBSzdxHV4DlpeBkEnImjiAVECe6hSYdVNhcutuyU8+rYCpuSmUj0RHjuU+MlfxfAdgVgB0/8L5iamXX2tyBZvyKsSmLrdhB\
        Lf8wnDtUn4jUQeRPcYLc+W2jEuAhORxzXv8BaWPWNxkorSw9cKOSvbNW9aA7ECpiiz9Hb7QDvdqbhrDHLQP9YupNwobJrVIGes93jrF5sDgyAQ\
        HhPKSorkRLbQUkpg+SS2Eiklc1vtdbz5elQCk2xKb73up3ok39L3v+Ota8zx5vaxOMZ27JE3fquAsTxacr/YtwEBMYjHvjtg15i9s85qPP6jdU\
        tU8XgrXB1j+kDFlfDAO+cRj43a0+uPXt81hnbCPnJkoqefw+YuHh8UwFRskRtYivoYLapaMUOMVMDmJkEYHAemhW/XXDA4mEtgSpQHrZvam2hA\
        4g1Bq1wi8ipgQby5ifNoVzrcppR5K9E9YwPzvnW09FKDHv95lFYCa2F1W82NBTWo4iWdTkspgXnqqjSnffiKbRfJ5p/jpo4xiu1LhxBgQxug0c\
        nxWAks1lx3qF2YYDbDg4nyt6UdY7NrVptsMCJT+CnUXIUDMVIA85qZk5Ey0uRBB8Rmd/cK2BzsKz2UMvwa55vRgjBf3uOtayzJEUeZ2/mCw9rk\
        gEpQAluYL6Gn2gy/TQluwARdHWzV5KpevhkJO6PToxAmP/FjkBrJ0hIelgwqgelvImVIHlUq/w6kswsXPp/2j2EVF2uGTHpXtkzZfpVo8qp/7O\
        /rg23WB9usD7ZZ/xH2B6oSBCpFGBl/AAAAAElFTkSuQmCC
        """

    @Test("C13: A QR code that OpenAM sends as a data URL is read, and the URL is not printed")
    func readsRecordedPicture() async throws {
        let picture = try Base64.decode(Self.recordedPicture)
        let text = try QRScanner.singleCode(in: PictureReader.read(picture))
        #expect(text.hasPrefix("AQICtfZKtUOkOO4JgAdto8rrKsuvJZW1") && text.hasSuffix("mh6C0sucA=="))
        let page = PagedOpenAM.Page(
            header: "Please scan QR code",
            callbacks: [PagedOpenAM.text("data:image/png;base64,\(Self.recordedPicture)"), PagedOpenAM.wait(milliseconds: 200)])
        let server = try PagedOpenAM([page, page])
        try await CommandLineFixture.with { cli in
            let login = try await OpenAMPageTests.logIn(cli, server, [])
            try login.succeeds()
            #expect(login.errors.contains("Please scan QR code\n"))
            #expect(login.errors.ranges(of: "a QR code for another device").count == 1)
            #expect(!login.errors.contains("base64") && !login.errors.contains("iVBOR"))
        }
    }

    @Test("C13: signet login --enroll enrolls the account in the QR code of a picture")
    func enrollsFromPicture() async throws {
        let picture = Base64.encode(try QRDrawing(text: Self.totp).png(scale: 4), as: .standard)
        let server = try PagedOpenAM([
            .init(
                header: "Scan",
                callbacks: [PagedOpenAM.text("<p>Scan it:<br/><img src=\"data:image/png;base64,\(picture)\"/></p>")])
        ])
        try await CommandLineFixture.with { cli in
            let login = try await OpenAMPageTests.logIn(cli, server, [], options: ["--enroll"])
            try login.succeeds()
            #expect(login.errors.contains("<p>Scan it:\n<img src=\"\"/></p>\nEnrolled LabAM: bob in this vault."))
            #expect(try await cli.accounts().first?["account"]?.string == "bob")
        }
    }
}
