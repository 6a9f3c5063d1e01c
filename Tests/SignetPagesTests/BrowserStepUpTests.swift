import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import TestSupport
import Testing

@testable import SignetServer

@Suite(
    "Step-up authentication in a browser", .enabled(if: Chromium.isPossible, "chromium-headless-shell is not installed"),
    .timeLimit(.minutes(10)))
struct BrowserStepUpTests {
    @Test("The parameter max_age asks a user whose login is too old to sign in once more and then continues")
    func maxAgeAsksForLogin() async throws {
        try await PageServer.run { server, page in
            try await page.open(server.authorize())
            try await page.signIn()
            try await page.waitForHeading("The app")
            server.devServer.moveClock(by: .seconds(60))
            try await page.open(server.authorize() + "&max_age=120")
            try await page.waitForHeading("The app")
            try await page.open(server.authorize() + "&max_age=30")
            try await page.waitForHeading("Sign In")
            // A user who leaves the page without signing in is asked again.
            try await page.open(server.authorize() + "&max_age=30")
            try await page.signIn()
            try await page.waitForHeading("The app")
            try await page.open(server.authorize() + "&max_age=30")
            try await page.waitForHeading("The app")
        }
    }

    @Test("The parameter acr_values asks for a second factor in addition to the password once")
    func contextClassAsksForSecondFactor() async throws {
        try await AsyncHTTPTransport().use { transport in
            let authenticator = Authenticator(
                store: AccountRecords(unsealed: MemoryStore()), transport: transport,
                device: PushDevice(token: "token-1", name: "Mira's laptop"))
            try await PageServer.run { server, page in
                try await page.open(server.login("RecoveryRegistration"))
                try await page.signIn()
                try await page.waitForHeading("Add your device")
                let mechanism = try await authenticator.enroll(uri: try await page.registrationURI).mechanisms[0]
                try await page.click("button[type=submit]")
                try await page.waitForHeading("Your recovery codes")
                try await page.click("[type=checkbox]")
                try await page.click("button[type=submit]")
                try await page.waitForHeading("You are signed in")
                // A value that names no journey asks for nothing.
                try await page.open(server.authorize() + "&acr_values=silver")
                try await page.waitForHeading("The app")
                let stronger = server.authorize() + "&acr_values=gold%20OATHLogin"
                try await page.open(stronger)
                try await page.signIn()
                try await page.waitForHeading("Enter your code")
                try await page.fill("[autocomplete=one-time-code]", try await authenticator.code(for: mechanism.uid).digits)
                try await page.press("Enter")
                try await page.waitForHeading("The app")
                try await page.open(stronger)
                try await page.waitForHeading("The app")
                // A login with only the password does not count, even a recent one.
                try await page.open("\(server.url)/XUI/session")
                #expect(try await page.text("dl").contains("OATHLogin"))
            }
        }
    }

    @Test("Policy advice leads to the journey that it names and asks again for each transaction")
    func followsAdviceInBrowser() async throws {
        func advice(_ type: String, _ value: String) -> String {
            let text =
                "<Advices><AttributeValuePair><Attribute name=\"\(type)\"/><Value>\(value)</Value></AttributeValuePair></Advices>"
            return "&authIndexType=composite_advice&authIndexValue=\(text.percentEncoded())"
        }
        try await PageServer.run { server, page in
            try await page.open(server.login())
            try await page.signIn()
            try await page.waitForHeading("You are signed in")
            try await page.open(server.login(nil, advice("AuthenticateToServiceConditionAdvice", "/:ChoiceCallback")))
            try await page.signIn()
            try await page.wait(for: "document.querySelector('[type=radio]')")
            try await page.click("button[type=submit]")
            try await page.waitForHeading("You are signed in")
            #expect(try await page.text("dl").contains("ChoiceCallback, Login"))
            for transaction in ["tx-1", "tx-2"] {
                try await page.open(server.login(nil, advice("TransactionConditionAdvice", transaction)))
                try await page.signIn()
                try await page.waitForHeading("You are signed in")
            }
        }
    }
}
