extension PageText {
    /// The sentence in English, with its placeholders in braces.
    var english: String { Self.sentences[self] ?? rawValue }

    /// The placeholders of the sentence.
    var placeholders: Set<String> { Self.placeholders(in: english) }

    /// The standard texts of AM's nodes, with their English text as the key.
    static let ofNodes: [String: PageText] = Dictionary(
        (Array(sentencesOfNodes) + [(.yes, "Yes"), (.no, "No")]).map { ($0.1, $0.0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the names in braces in a sentence.
    static func placeholders(in sentence: String) -> Set<String> {
        Set(
            sentence.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
                part.firstIndex(of: "}").map { String(part[..<$0]) }
            })
    }

    /// Returns a sentence with the values of its placeholders.
    ///
    /// Braces in values have no meaning.
    static func filled(_ sentence: String, _ values: [String: String]) -> String {
        guard !values.isEmpty else { return sentence }
        let parts = sentence.split(separator: "{", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: parts.first.map { String($0) } ?? "") { text, part in
            guard let end = part.firstIndex(of: "}"), let value = values[String(part[..<end])] else {
                text += "{\(part)"
                return
            }
            text += value + part[part.index(after: end)...]
        }
    }

    private static let sentences: [PageText: String] = [
        sentencesOfLogin, sentencesOfFields, sentencesOfFailures, sentencesOfPolicies, sentencesOfSessions, sentencesOfEmails,
        sentencesOfNodes,
    ].reduce(into: [:]) { $0.merge($1) { first, _ in first } }

    private static let sentencesOfLogin: [PageText: String] = [
        .footer: "A Signet server for development and tests",
        .toContinue: "To go on to {client}",
        .signIn: "Sign in",
        .continueLabel: "Continue",
        .chooseNumber: "Choose this number",
        .addDevice: "Add your device",
        .yourRecoveryCodes: "Your recovery codes",
        .createPasskey: "Create a passkey",
        .usePasskey: "Use a passkey",
        .lookInMail: "Look in your mail",
        .answerQuestion: "Answer your question",
        .answerQuestions: "Answer your questions",
        .useRecoveryCode: "Use a recovery code",
        .enterCode: "Enter your code",
        .approveOnDevice: "Approve on your device",
        .pleaseWait: "Please wait",
        .chooseTestUser: "Choose a user for a test",
        .recoveryCodeRejected: "The recovery code is wrong, or it was used before. Enter another one.",
        .codeRejected: "The code is wrong, or it was used before. Enter another one.",
        .credentialsRejected: "The user name or the password is wrong. Try again.",
        .passwordRejected: "The password is wrong. Try again.",
        .answerRejected: "An answer is wrong. Try again.",
        .inputRejected: "That was not accepted. Check what you entered, and try again.",
        .lookAgain: "Please look at this again:",
        .nothingToDo: "There is nothing to do here but to go on.",
        .sendAgain: "Send it again",
        .cancel: "Cancel",
        .waiting: "Waiting",
        .approveSignIn: "Approve the sign-in on your device.",
        .approveSignInOf: "Approve the sign-in of {user} on your device.",
        .goOnWithout: "Go on without",
        .passkeyAddress:
            "Passkeys do not work at this address. Open the page under the name that they are made for, for "
            + "example localhost in place of 127.0.0.1.",
        .passkeyNeedsScripts: "A passkey needs scripts, and this browser runs none.",
        .passkeyAbout:
            "With a passkey you sign in without a password: with your fingerprint, your face or the lock of "
            + "your device. Your browser or your device will ask you where to keep it.",
        .passkeyFinds: "Your browser shows the passkeys that it has for this site. You need no user name.",
        .passkeyAsks: "Your browser or your device will ask you for it.",
        .userName: "User name",
        .linkFollowed: "You followed the link of an email. It works once.",
        .goOnSigningIn: "Go on signing in",
    ]

    private static let sentencesOfFields: [PageText: String] = [
        .scriptNotRun: "This step has a script for browsers. This page runs none but its own.",
        .emailsInConsole: "Emails of the development server are in the console.",
        .recoveryCodesAbout: "Each of these signs you in once, when your device is gone. You will not see them again.",
        .recoveryCodesKept: "I have copied the codes to a safe place",
        .copy: "Copy",
        .copied: "Copied",
        .copyRefused: "Copying is not allowed here",
        .download: "Download",
        .terms: "Terms and conditions",
        .termsVersion: "Version {version}",
        .termsVersionOf: "Version {version} of {day}",
        .acceptTerms: "I accept these terms",
        .consentWith: "With",
        .consentWhat: "What",
        .consentAccess: "Access",
        .agree: "I agree",
        .yes: "Yes",
        .no: "No",
        .ok: "OK",
        .continueHere: "Continue here",
        .continueWith: "Continue with {provider}",
        .question: "Question",
        .questionOrOwn: "Question: choose one, or write your own",
        .answer: "Answer",
        .openOnDevice: "Open on this device",
        .linkAsText: "The link as text",
        .typeSecret: "Cannot scan it? Type the secret",
        .codesByCounter: "The codes are based on a counter.",
        .codesByTime: "The codes are based on time.",
        .qrCodeTooLong:
            "The link of this account is longer than a QR code holds: {count} bytes. Open it on this device, "
            + "or copy it.",
        .qrCode: "QR code that adds your authenticator",
        .needsApp: "This step needs an app.",
        .onlyOnDevice: "Only an app on a device can do this, with a key that never leaves it.",
        .noReCaptcha: "Google's reCAPTCHA does not run on this page, because the page loads nothing from other sites.",
        .goesOnElsewhere: "This step goes on elsewhere:",
        .unknownCallback: "{type}: this page has no better way to show it.",
    ]

    private static let sentencesOfFailures: [PageText: String] = [
        .tryAgain: "Try again",
        .nothingHere: "There is nothing here",
        .noSuchPage: "There is no such page.",
        .signInOver:
            "This sign-in has ended, or it was started in another browser. Allow cookies for this site and "
            + "start again.",
        .noSuchJourney: "There is no such journey",
        .noSuchJourneyAbout: "This server has no journey of that name in this realm.",
        .timeIsUp: "Time is up",
        .timeIsUpAbout: "The sign-in took too long, so it ended.",
        .linkInvalid: "The link is invalid",
        .linkInvalidAbout: "A link in an email works once and for a limited time. Sign in again to get another.",
        .locked: "Locked",
        .lockedAbout: "This account is locked. An administrator can unlock it.",
        .didNotWork: "That did not work",
        .messageNotSent: "The message to your device could not be sent. Try again later.",
        .notSignedIn: "Not signed in",
        .notSignedInAbout:
            "You could not be signed in: what was entered is not right, or your device said no, or did not "
            + "answer in time.",
        .wrongCredentials: "The user name or the password is wrong.",
        .noCodeDevice: "You have no device for one-time codes.",
        .wrongCode: "The code is wrong, or it was used before.",
        .wrongRecoveryCode: "The recovery code is wrong, or it was used before.",
        .wrongAnswer: "An answer is wrong.",
        .tooManyAttempts: "There were too many wrong attempts.",
        .noPushDevice: "You have no device for approvals.",
        .pushExpired: "Your device did not answer in time.",
        .pushDenied: "The sign-in was denied on your device.",
        .pushWaitEnded: "You have ended the wait for your device.",
        .noPasskey: "You have no passkey for this site.",
        .passkeyFailed: "The passkey did not work.",
        .passkeyNotCreated: "No passkey was created.",
        .requestRefused: "Request refused",
        .requestRefusedAbout: "The app that led you here sent a request that this server does not accept.",
        .errorCode: "Error code:",
    ]

    private static let sentencesOfPolicies: [PageText: String] = [
        .policyUnknown: "This value is not accepted.",
        .policyOther: "This does not comply with the rule {value}.",
        .policyRequired: "Fill this in.",
        .policyUnique: "This is taken. Choose another.",
        .policyPattern: "This is not in the form that is asked for.",
        .policyFilter: "Enter a valid filter.",
        .policyItems: "An entry of the list is not valid.",
        .policyDate: "Enter a date.",
        .policyEmail: "Enter an email address, like name@example.org.",
        .policyName: "Enter a name.",
        .policyPhone: "Enter a telephone number.",
        .policyNumber: "Enter a number.",
        .policyMinLength: "Use at least {value} characters.",
        .policyMaxLength: "Use at most {value} characters.",
        .policyCapital: "Use a capital letter.",
        .policyCapitals: "Use at least {value} capital letters.",
        .policyDigit: "Use a digit.",
        .policyDigits: "Use at least {value} digits.",
        .policyType: "Enter a value of the type {value}.",
        .policyMinimum: "Enter {value} or more.",
        .policyLarger: "Enter a larger number.",
        .policyMaximum: "Enter {value} or less.",
        .policySmaller: "Enter a smaller number.",
        .policyCharacters: "Do not use {value}.",
        .policyDuplicates: "Do not repeat {value}.",
        .policyOthers: "Do not use what you entered as {value}.",
    ]

    private static let sentencesOfSessions: [PageText: String] = [
        .signedIn: "You are signed in",
        .sessionName: "Name",
        .sessionRealm: "Realm",
        .sessionJourneys: "Journeys",
        .sessionStart: "Signed in",
        .sessionEnd: "Good until",
        .sessionIdleEnd: "Unused until",
        .signOut: "Sign out",
        .signOutQuestion: "Sign out?",
        .signedInAs: "You are signed in as {user}.",
        .signOutReturns: "When you sign out, you return to {client}.",
        .signOutAbout: "When you sign out, apps that use this sign-in ask you to sign in again.",
        .signedOut: "You have signed out",
        .sessionEnded: "Your session has ended.",
        .signInAgain: "Sign in again",
        .youAreNotSignedIn: "You are not signed in",
        .noSession: "There is no session in this browser.",
        .returnTo: "Return to {client}",
        .done: "Done",
        .completed: "{user} has completed {journey}. This journey creates no session.",
        .onceMore: "Once more",
        .allowQuestion: "Allow {client}?",
        .asksToBeAllowed: "{client} asks to be allowed:",
        .deviceAsks: "It asks to be allowed:",
        .asksForAll: "It asks for everything that it is registered for.",
        .readAttribute: "to read the attribute {name}",
        .scopeOpenID: "your identity (openid)",
        .scopeProfile: "to read your name and profile (profile)",
        .scopeEmail: "to read your email address (email)",
        .scopeAddress: "to read your postal address (address)",
        .scopePhone: "to read your telephone number (phone)",
        .doNotAskAgain: "Do not ask me again",
        .allow: "Allow",
        .deny: "Deny",
        .connectDevice: "Connect a device",
        .deviceCode: "Code on the device",
        .noSuchDeviceCode: "There is no such code, or it has expired.",
        .deviceShowsCode: "A device shows this code. Allow it only if it is the one that you see:",
        .allowed: "Allowed",
        .denied: "Denied",
        .goBackToDevice: "You can go back to your device now.",
        .backTo: "Back to {client}",
        .answerIsSent: "Your browser sends the answer of this server to {client}.",
        .chooseUser: "Choose a user",
        .chooseUserAbout: "For tests: you are signed in without a password.",
        .userLocked: "{user} (locked)",
        .noUsers: "There are no users in the realm {realm}.",
    ]

    private static let sentencesOfEmails: [PageText: String] = [
        .emailLinkTitle: "Continue at {issuer}",
        .emailLinkAbout: "Open this link to continue at {issuer}:",
        .emailCodeTitle: "Your code for {issuer}",
        .emailCodeAbout: "Your code for {issuer} is:",
        .emailIgnore: "If you did not ask for it, ignore this email.",
    ]

    private static let sentencesOfNodes: [PageText: String] = [
        .nodeUserName: "User Name",
        .nodeUsername: "Username",
        .nodePassword: "Password",
        .nodeConfirmPassword: "Confirm Password",
        .nodeOneTimePassword: "One Time Password",
        .nodeVerificationCode: "Enter verification code",
        .nodeRecoveryCode: "Recovery Code",
        .nodeSubmit: "Submit",
        .nodeUseRecoveryCode: "Use Recovery Code",
        .nodeNext: "Next",
        .nodeExit: "Exit",
        .nodeWaiting: "Waiting ...",
        .nodeWaitingForResponse: "Waiting for response...",
        .nodeWaitingForDevice: "Waiting for your device to register",
        .nodeScan: "Scan the QR code, or open the link, with your authenticator.",
        .nodeScanAndContinue: "Scan the QR code, or open the link, with your authenticator. Then continue.",
        .nodeScanAndEnterCode:
            "Scan the QR code, or open the link, with your authenticator. Then continue, and enter the code "
            + "that it shows.",
        .nodeEmailSent: "An email has been sent to your inbox.",
        .nodeSelectQuestion: "Select a security question",
        .nodeFirstName: "First Name",
        .nodeLastName: "Last Name",
        .nodeEmailAddress: "Email Address",
        .nodeTelephoneNumber: "Telephone Number",
        .nodeUpdates: "Send me news and updates",
        .nodeMarketing: "Send me special offers and services",
        .nodeSignIn: "Sign In",
        .nodeSignUp: "Sign Up",
        .nodeNewPassword: "Choose a new password",
        .nodePasswordsDiffer: "The passwords do not match.",
    ]
}
