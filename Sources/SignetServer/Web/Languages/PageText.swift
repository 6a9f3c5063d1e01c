/// A sentence of the pages and the emails of the server, which a configuration file can give in other languages.
///
/// The names are the settings of the section `languages`. ``english`` has the sentences.
enum PageText: String, Sendable, CaseIterable {
    // MARK: Login pages

    case footer, toContinue, signIn, continueLabel, chooseNumber, addDevice, yourRecoveryCodes, createPasskey, usePasskey,
        lookInMail, answerQuestion, answerQuestions, useRecoveryCode, enterCode, approveOnDevice, pleaseWait, chooseTestUser,
        recoveryCodeRejected, codeRejected, credentialsRejected, passwordRejected, answerRejected, inputRejected, lookAgain,
        nothingToDo, sendAgain, cancel, waiting, approveSignIn, approveSignInOf, goOnWithout, passkeyAddress,
        passkeyNeedsScripts, passkeyAbout, passkeyFinds, passkeyAsks, userName, linkFollowed, goOnSigningIn

    // MARK: Fields

    case scriptNotRun, emailsInConsole, recoveryCodesAbout, recoveryCodesKept, copy, copied, copyRefused, download, terms,
        termsVersion, termsVersionOf, acceptTerms, consentWith, consentWhat, consentAccess, agree, yes, no, ok, continueHere,
        continueWith, question, questionOrOwn, answer, openOnDevice, linkAsText, typeSecret, codesByCounter, codesByTime,
        qrCodeTooLong, qrCode, needsApp, onlyOnDevice, noReCaptcha, goesOnElsewhere, unknownCallback

    // MARK: Failed logins

    case tryAgain, nothingHere, noSuchPage, signInOver, noSuchJourney, noSuchJourneyAbout, timeIsUp, timeIsUpAbout,
        linkInvalid, linkInvalidAbout, locked, lockedAbout, didNotWork, messageNotSent, notSignedIn, notSignedInAbout,
        wrongCredentials, noCodeDevice, wrongCode, wrongRecoveryCode, wrongAnswer, tooManyAttempts, noPushDevice, pushExpired,
        pushDenied, pushWaitEnded, noPasskey, passkeyFailed, passkeyNotCreated, requestRefused, requestRefusedAbout, errorCode

    // MARK: Rules for values

    case policyUnknown, policyOther, policyRequired, policyUnique, policyPattern, policyFilter, policyItems, policyDate,
        policyEmail, policyName, policyPhone, policyNumber, policyMinLength, policyMaxLength, policyCapital, policyCapitals,
        policyDigit, policyDigits, policyType, policyMinimum, policyLarger, policyMaximum, policySmaller, policyCharacters,
        policyDuplicates, policyOthers

    // MARK: Sessions, consent and logout

    case signedIn, sessionName, sessionRealm, sessionJourneys, sessionStart, sessionEnd, sessionIdleEnd, signOut,
        signOutQuestion, signedInAs, signOutReturns, signOutAbout, signedOut, sessionEnded, signInAgain, youAreNotSignedIn,
        noSession, returnTo, done, completed, onceMore, allowQuestion, asksToBeAllowed, deviceAsks, asksForAll, readAttribute,
        scopeOpenID, scopeProfile, scopeEmail, scopeAddress, scopePhone, doNotAskAgain, allow, deny, connectDevice, deviceCode,
        noSuchDeviceCode, deviceShowsCode, allowed, denied, goBackToDevice, backTo, answerIsSent, chooseUser, chooseUserAbout,
        userLocked, noUsers

    // MARK: Emails

    case emailLinkTitle, emailLinkAbout, emailCodeTitle, emailCodeAbout, emailIgnore

    // MARK: Standard texts of AM's nodes

    case nodeUserName, nodeUsername, nodePassword, nodeConfirmPassword, nodeOneTimePassword, nodeVerificationCode,
        nodeRecoveryCode, nodeSubmit, nodeUseRecoveryCode, nodeNext, nodeExit, nodeWaiting, nodeWaitingForResponse,
        nodeWaitingForDevice, nodeScan, nodeScanAndContinue, nodeScanAndEnterCode, nodeEmailSent, nodeSelectQuestion,
        nodeFirstName, nodeLastName, nodeEmailAddress, nodeTelephoneNumber, nodeUpdates, nodeMarketing, nodeSignIn, nodeSignUp,
        nodeNewPassword, nodePasswordsDiffer
}
