/// The starter file, which is also the configuration of a development server without a file.
enum Starter {
    static let text = people + journeys + StarterCallbacks.text

    /// The configuration in the starter file.
    ///
    /// If it cannot be read, a server with it fails to start (``Journeys/defect``).
    static let configuration = configuration(of: text)

    static func configuration(of text: String) -> ServerConfiguration {
        do throws(ConfigurationError) {
            return try ConfigurationReader.read(ConfigurationSource(text), defaultJourneys: { Journeys([]) })
        } catch {
            return ServerConfiguration(journeys: Journeys(defect: error))
        }
    }

    /// The sections of the starter file before its journeys.
    static let people = #"""
        # A configuration of `signet serve`: users, apps and login journeys.
        # docs/reference/configuration.md describes every setting and every node. `signet serve --validate-config FILE` reports the mistakes in a file.

        # server:
        #   issuer: Signet
        #   pushTimeout: 120

        realms: [/, /alpha]

        users:
          # Without `password: ...`, the server generates a password and prints it when it starts.
          - name: demo
            claims: {given_name: Demo, family_name: User, email: demo@example.test}

        clients:
          # An app on this machine: a public client with PKCE. Any port of 127.0.0.1 matches.
          - id: app
            redirectURIs: ["http://127.0.0.1/callback", "org.example.app://callback"]
            mayAct: [service]
            postLogoutRedirectURIs: ["http://127.0.0.1/", "org.example.app://bye"]
          # A service, which gets tokens for itself and exchanges those of `app`. The server generates its secret and prints it when it
          # starts.
          - id: service
            generateSecret: true
            grantTypes: [client_credentials, token_exchange]
            scopes: [read, write, profile]
            accessTokens: jwt

        # Definitions for Attribute Collectors. userName, password, givenName, sn and mail are built in.
        attributes:
          age: {title: Age, type: number, policies: [minimum-number-value: 18, maximum-number-value: 120]}
          updates: {title: Send updates, type: boolean}

        """#

    private static let journeys = #"""

        journeys:
          Login:
            nodes:
              page:
                type: PageNode
                stage: UsernamePassword
                pageHeader: Sign In
                pageDescription: With your name and password
                nodes:
                  - type: UsernameCollectorNode
                  - type: PasswordCollectorNode
                outcomes: {outcome: password}
              password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}

          # The registration of a user.
          Registration:
            nodes:
              page:
                type: PageNode
                stage: Registration
                pageHeader: Sign Up
                pageDescription: Tell us who you are
                nodes:
                  - {type: ValidatedUsernameNode, validateInput: true}
                  - {type: ValidatedPasswordNode, validateInput: true}
                  - {type: AttributeCollectorNode, attributesToCollect: [givenName, mail], required: true, validateInputs: true}
                  - {type: KbaCreateNode}
                  - {type: AcceptTermsAndConditionsNode}
                outcomes: {outcome: create}
              create: {type: CreateObjectNode, outcomes: {CREATED: success, FAILURE: failure}}

          # A name, and a link in an email.
          EmailLogin:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
              email: {type: EmailSuspendNode, outcomes: {outcome: success}}

          # The answer to one of the user's security questions as a second factor, with up to three attempts.
          QuestionLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: question, false: failure}}
              question: {type: KbaVerifyNode, outcomes: {true: success, false: attempts}}
              attempts: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: question, Reject: failure}}

          # A forgotten password: the user opens the link in an email, answers a security question and chooses a new password. Neither
          # the link nor the answer alone is enough. A user without security questions gets no new password here.
          ForgottenPassword:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
              email: {type: EmailSuspendNode, outcomes: {outcome: question}}
              question: {type: KbaVerifyNode, outcomes: {true: password, false: attempts}}
              attempts: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: question, Reject: failure}}
              password:
                type: PageNode
                pageHeader: Choose a new password
                nodes: [{type: ValidatedPasswordNode, validateInput: true}]
                outcomes: {outcome: save}
              save: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}

          # One-time codes. The device is saved after it has shown a correct code.
          OATHRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: OathRegistrationNode
                postponeDeviceProfileStorage: true
                generateRecoveryCodes: false
                outcomes: {successOutcome: code, failureOutcome: failure}
              code: {type: InnerTreeEvaluatorNode, tree: Code, outcomes: {true: store, false: failure}}
              store: {type: OathDeviceStorageNode, outcomes: {successOutcome: success, failureOutcome: failure}}

          OATHLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: code, false: failure}}
              code: {type: InnerTreeEvaluatorNode, tree: Code, outcomes: {true: success, false: failure}}

          # A code, with up to three attempts.
          Code:
            innerTreeOnly: true
            nodes:
              code:
                type: OathTokenVerifierNode
                # AM's default is 100. A wider window accepts more codes at a time, which makes guessing easier.
                hotpWindowSize: 10
                outcomes: {successOutcome: success, failureOutcome: attempts, notRegisteredOutcome: failure}
              attempts: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: code, Reject: failure}}

          # Recovery codes for a lost device, and a login with one of them.
          RecoveryRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register: {type: OathRegistrationNode, outcomes: {successOutcome: codes, failureOutcome: failure}}
              codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}

          RecoveryLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: code, false: failure}}
              code:
                type: OathTokenVerifierNode
                hotpWindowSize: 10
                isRecoveryCodeAllowed: true
                outcomes: {successOutcome: success, recoveryCodeOutcome: recovery, default: failure}
              recovery: {type: RecoveryCodeCollectorDecisionNode, outcomes: {true: success, false: failure}}

          # Push.
          PushRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: PushRegistrationNode
                generateRecoveryCodes: false
                outcomes: {successOutcome: success, default: failure}

          CombinedRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: CombinedMultiFactorRegistrationNode
                generateRecoveryCodes: false
                outcomes: {successOutcome: success, default: failure}

          PushLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
              send: {type: PushAuthenticationSenderNode, contextInfo: true, outcomes: {SENT: wait, NOT_REGISTERED: failure}}
              wait: {type: InnerTreeEvaluatorNode, tree: PushAnswer, outcomes: {true: success, false: failure}}

          PushNumberLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
              send:
                type: PushAuthenticationSenderNode
                pushType: CHALLENGE
                contextInfo: true
                outcomes: {SENT: wait, NOT_REGISTERED: failure}
              wait: {type: InnerTreeEvaluatorNode, tree: PushAnswer, outcomes: {true: success, false: failure}}

          PushBiometricLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
              send:
                type: PushAuthenticationSenderNode
                pushType: BIOMETRIC
                contextInfo: true
                outcomes: {SENT: wait, NOT_REGISTERED: failure}
              wait: {type: InnerTreeEvaluatorNode, tree: PushAnswer, outcomes: {true: success, false: failure}}

          # Waits for the response to the push message.
          PushAnswer:
            innerTreeOnly: true
            nodes:
              wait: {type: PushWaitNode, outcomes: {DONE: verify}}
              verify:
                type: PushResultVerifierNode
                outcomes: {TRUE: success, FALSE: failure, EXPIRED: failure, WAITING: wait}

          # A key on the device. DeviceLogin asks for no name, because the device identifies the user.
          DeviceBinding:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: bind, false: failure}}
              bind: {type: DeviceBindingNode, outcomes: {success: success, default: failure}}

          DeviceSigning:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: DeviceSigningVerifierNode, outcomes: {success: success, default: failure}}

          DeviceLogin:
            nodes:
              sign: {type: DeviceSigningVerifierNode, outcomes: {success: success, default: failure}}

          # Passkeys in the formats of AM 7.1 and later, of 7.0 and of 6.5.
          WebAuthnRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: WebAuthnRegistrationNode
                generateRecoveryCodes: false
                outcomes: {success: success, default: failure}

          WebAuthnLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: WebAuthnAuthenticationNode, outcomes: {success: success, default: failure}}

          WebAuthnRegistration70:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: WebAuthnRegistrationNode
                legacyMetadata: true
                generateRecoveryCodes: false
                outcomes: {success: success, default: failure}

          WebAuthnLogin70:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: WebAuthnAuthenticationNode, legacyMetadata: true, outcomes: {success: success, default: failure}}

          WebAuthnRegistration65:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: WebAuthnRegistrationNode
                asScript: true
                generateRecoveryCodes: false
                outcomes: {success: success, default: failure}

          WebAuthnLogin65:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: WebAuthnAuthenticationNode, asScript: true, outcomes: {success: success, default: failure}}

          # Ends of a journey that a client must handle.
          PassThrough:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: pass, false: failure}}
              pass: {type: PassThroughNode, outcomes: {outcome: success}}

          Failure:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {default: failure}}

          Locked:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: end, false: failure}}
              end: {type: FailureNode, reason: lockedOut}

          PolicyFailure:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: end, false: failure}}
              end: {type: FailureNode, reason: policyFailure, attribute: mail, policies: [not-empty, valid-email-address-format]}

        """#
}
